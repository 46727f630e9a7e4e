package harness

import (
	"fmt"
	"io"
)

// BuildError is a build that failed.
type BuildError struct {
	Phase string // what failed: a phase of the lifecycle, or pack
	Log   string // all that the build printed until then
	Err   error
}

// Error includes the build's log.
func (e *BuildError) Error() string {
	return fmt.Sprintf("building an image: %s: %v\n%s", e.Phase, e.Err, e.Log)
}

// Unwrap returns the cause.
func (e *BuildError) Unwrap() error { return e.Err }

// tee writes to out, and to also if there is one.
func tee(out, also io.Writer) io.Writer {
	if also == nil {
		return out
	}
	return io.MultiWriter(out, also)
}
