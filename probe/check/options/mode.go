package options

import (
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// Mode is the value of -mode: the condition for the probe to pass.
type Mode string

// The modes.
const (
	// ModeReady: every service asked for is SERVING.
	ModeReady Mode = "ready"
	// ModeLive: the server has answered each call with any status of its own. ModeLive is for liveness: a server
	// waiting for its database is NOT_SERVING, and a restart does not help.
	ModeLive Mode = "live"
	// ModeConnect: the server has sent its HTTP/2 SETTINGS. Nothing is asked.
	ModeConnect Mode = "connect"
)

// success returns the line of a probe that passes.
func (m Mode) success() string {
	switch m {
	case ModeLive:
		return "live: the server answers"
	case ModeConnect:
		return "connected: the server speaks HTTP/2"
	}
	return "status: " + outcome.StatusServing.String()
}
