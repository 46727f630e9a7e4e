//go:build !linux

package bridge

import (
	"context"
	"net"
)

// listen sets no options: the bridge is for containers on Linux.
func listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address)
}

// openFiles assumes no limit.
func openFiles() int { return maxSlots + ownFiles }
