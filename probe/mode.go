package probe

// mode is the value of -mode: what passes.
type mode string

const (
	// modeReady: every service asked for is SERVING.
	modeReady mode = "ready"
	// modeLive: the server has answered each call with a status of its own,
	// whichever. It is for liveness: a server that waits for its database says
	// NOT_SERVING, and starting it again helps nobody.
	modeLive mode = "live"
	// modeConnect: the server has sent its HTTP/2 SETTINGS. Nothing is asked.
	modeConnect mode = "connect"
)

// success is the line for a probe that has passed.
func (m mode) success() string {
	switch m {
	case modeLive:
		return "live: the server answers"
	case modeConnect:
		return "connected: the server speaks HTTP/2"
	}
	return "status: " + StatusServing.String()
}
