package bridge

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
)

// listen sets options of the listener for all connections (tcp(7)): small buffers, since the kernel accepts data from
// any caller, and keep-alive, for the end of callers that are gone.
func listen(ctx context.Context, address string) (net.Listener, error) {
	config := net.ListenConfig{
		KeepAlive: -1, // Control sets it
		Control: func(_, _ string, socket syscall.RawConn) error {
			return socket.Control(func(fd uintptr) { setOptions(int(fd)) })
		},
	}
	return config.Listen(ctx, "tcp", address)
}

// setOptions sets the options that the kernel has.
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

// openFiles returns how many files the process may have open, as far as the slots can use them.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > maxSlots+ownFiles {
		return maxSlots + ownFiles
	}
	return int(limit.Cur)
}
