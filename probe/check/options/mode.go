package options

import (
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// Mode is the value of -mode. It says what has to be true for the probe to pass.
type Mode string

// The modes.
const (
	// ModeReady: every service asked for is SERVING.
	ModeReady Mode = "ready"
	// ModeLive: the server has answered each call with any status of its own. It is for liveness: a server that waits
	// for its database is NOT_SERVING, and it does not help to start it again.
	ModeLive Mode = "live"
	// ModeConnect: the server has sent its HTTP/2 SETTINGS. Nothing is asked.
	ModeConnect Mode = "connect"
)

// success returns the line that is printed when the probe passes.
func (m Mode) success() string {
	switch m {
	case ModeLive:
		return "live: the server answers"
	case ModeConnect:
		return "connected: the server speaks HTTP/2"
	}
	return "status: " + outcome.StatusServing.String()
}
