package probe

import (
	"fmt"
	"time"
)

// Defaults is what default flags say to the build of an image.
type Defaults struct {
	// HasAddress tells that they say where the server is.
	HasAddress bool
	// NeedsFull tells that they ask for what only the full probe can do: -alts and -spiffe.
	NeedsFull bool
	// NeedsHealth tells that no probe passes unless the server has the health service.
	NeedsHealth bool
	// Longest is how long a probe takes at the most.
	Longest time.Duration
}

// ReadDefaults reads words as the probe's default flags: it parses them as the
// probe does and applies every rule that needs no value of run time. Files they
// name are not looked at. The error is a *[Failure] whose Hint says what to
// change.
func ReadDefaults(words []string) (Defaults, error) {
	s := newSettings()
	if err := s.parseDefaults(words); err != nil {
		return Defaults{}, fmt.Errorf("checking default flags: %w", err)
	}
	o := &s.options
	if err := o.validateDefaults(); err != nil {
		return Defaults{}, err
	}
	longest := o.ConnectTimeout + o.RPCTimeout + o.wait
	if o.timeout > 0 {
		longest = min(longest, o.timeout)
	}
	return Defaults{
		HasAddress:  o.addr != "",
		NeedsFull:   o.ALTS || o.SPIFFE,
		NeedsHealth: o.mode == modeReady,
		Longest:     longest,
	}, nil
}
