package bridge

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
)

// listen listens. What is set here for the listener is set for all its connections (tcp(7)): small buffers, since what
// is in them was taken from a caller without asking anything, and that the kernel finds out when a caller is gone.
func listen(ctx context.Context, address string) (net.Listener, error) {
	config := net.ListenConfig{
		KeepAlive: -1, // it is set for the listener
		Control: func(_, _ string, socket syscall.RawConn) error {
			return socket.Control(func(fd uintptr) { setOptions(int(fd)) })
		},
	}
	return config.Listen(ctx, "tcp", address)
}

// setOptions sets what a kernel may lack without harm to others.
func setOptions(fd int) {
	for _, option := range [...]struct{ level, name, value int }{
		{syscall.SOL_SOCKET, syscall.SO_RCVBUF, socketBuffer},
		{syscall.SOL_SOCKET, syscall.SO_SNDBUF, socketBuffer},
		{syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1},
		{syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE, int(check.KeepAlive.Idle / time.Second)},
		{syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL, int(check.KeepAlive.Interval / time.Second)},
		{syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT, check.KeepAlive.Count},
	} {
		_ = syscall.SetsockoptInt(fd, option.level, option.name, option.value)
	}
}

// openFiles returns how many files the process may have open.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > maxPlaces+ownFiles {
		return maxPlaces + ownFiles
	}
	return int(limit.Cur)
}
