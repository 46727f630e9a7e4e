package harness

import (
	"fmt"
	"io"
)

// BuildError is the error of a failed build.
type BuildError struct {
	Phase string // the failed phase of the lifecycle, or pack
	Log   string // the build's output until the failure
	Err   error
}

// Error returns the phase, the cause and the build's log.
func (e *BuildError) Error() string {
	return fmt.Sprintf("building an image: %s: %v\n%s", e.Phase, e.Err, e.Log)
}

// Unwrap returns the cause.
func (e *BuildError) Unwrap() error { return e.Err }

// tee writes to out, and to also unless also is nil.
func tee(out, also io.Writer) io.Writer {
	if also == nil {
		return out
	}
	return io.MultiWriter(out, also)
}
