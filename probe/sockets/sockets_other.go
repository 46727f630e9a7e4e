//go:build !linux

package sockets

import (
	"errors"
	"time"
)

var errNoLinux = errors.New("only Linux tells which sockets there are")

// Own fails: only Linux has it.
func Own() ([]Socket, error) { return nil, errNoLinux }

// All fails: only Linux has it.
func All() ([]Socket, error) { return nil, errNoLinux }

// Ask fails: only Linux has it.
func Ask([]Socket, Reach, time.Time) ([]Socket, error) { return nil, errNoLinux }
