//go:build !linux

package bridge

import (
	"context"
	"net"
)

// listen listens. The bridge is for containers on Linux; elsewhere its connections are as the system makes them.
func listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address)
}

// openFiles returns how many files the process may have open.
func openFiles() int { return maxPlaces + ownFiles }
