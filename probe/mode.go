package probe

// mode is the value of -mode. It says what has to be true for the probe to pass.
type mode string

const (
	// modeReady: every service asked for is SERVING.
	modeReady mode = "ready"
	// modeLive: the server has answered each call with any status of its own. It is for liveness: a server that waits
	// for its database is NOT_SERVING, and it does not help to start it again.
	modeLive mode = "live"
	// modeConnect: the server has sent its HTTP/2 SETTINGS. Nothing is asked.
	modeConnect mode = "connect"
)

// success returns the line that is printed when the probe passes.
func (m mode) success() string {
	switch m {
	case modeLive:
		return "live: the server answers"
	case modeConnect:
		return "connected: the server speaks HTTP/2"
	}
	return "status: " + StatusServing.String()
}
