package probe

import (
	"fmt"
	"time"
)

// Defaults is what the build of an image has to know about default flags.
type Defaults struct {
	// HasAddress tells that they name the address of the server.
	HasAddress bool
	// NeedsFull tells that they have a flag that only the full probe implements: -alts and -spiffe.
	NeedsFull bool
	// NeedsHealth tells that a probe can only pass if the server has the health service.
	NeedsHealth bool
	// Longest is the longest time that a probe takes.
	Longest time.Duration
}

// ReadDefaults reads words as the probe's default flags. It parses them as the probe does, and applies every rule that
// does not depend on values of run time. It does not read the files that flags name. The error is a *[Failure] whose
// Hint says what to change.
func ReadDefaults(words []string) (Defaults, error) {
	s := newSettings()
	if err := s.parseDefaults(words, "default"); err != nil {
		return Defaults{}, fmt.Errorf("checking default flags: %w", err)
	}
	o := &s.options
	if err := o.validateDefaults(); err != nil {
		return Defaults{}, err
	}
	return Defaults{
		HasAddress:  o.addr != "",
		NeedsFull:   o.ALTS || o.SPIFFE,
		NeedsHealth: o.mode == modeReady,
		Longest:     o.Budget.Longest(),
	}, nil
}
