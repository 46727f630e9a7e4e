//go:build !linux

package sockets

import (
	"errors"
	"time"
)

var errNoLinux = errors.New("only Linux tells which sockets there are")

// Own fails: see the one for Linux.
func Own() ([]Socket, error) { return nil, errNoLinux }

// All fails: see the one for Linux.
func All() ([]Socket, error) { return nil, errNoLinux }

// Ask fails: see the one for Linux.
func Ask([]Socket, Reach, time.Time) ([]Socket, error) { return nil, errNoLinux }
