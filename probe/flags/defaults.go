package flags

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/options"
)

// Defaults is what the build of an image has to know about default flags.
type Defaults struct {
	// HasAddress tells that they name the address of the server.
	HasAddress bool
	// Searches tells that a probe with them finds its server wherever it listens.
	Searches bool
	// HasCredentials tells that they say what secures the transport.
	HasCredentials bool
	// HasServices tells that they say which services are asked for.
	HasServices bool
	// Credentials are the names of the headers in them that carry credentials.
	Credentials []string
	// NeedsFull tells that they have a flag that only the full probe implements: -alts and -spiffe.
	NeedsFull bool
	// NeedsHealth tells that a probe can only pass if the server has the health service.
	NeedsHealth bool
	// Longest is the longest time that a probe takes, LongestAsking that of one that does not look for its server.
	Longest, LongestAsking time.Duration
}

// ReadOptions reads words as the probe's default flags. It parses them as the probe does, and applies every rule that
// does not depend on values of run time. It does not read the files that flags name, and the port of an address is 0 if
// it has a name. The error is a *[outcome.Failure] whose Hint says what to change.
func ReadOptions(words []string) (options.Options, error) {
	c := Probe()
	if err := c.ParseDefaults(words, "default"); err != nil {
		return options.Options{}, fmt.Errorf("checking default flags: %w", err)
	}
	if c.values.Addr == "" {
		c.values.Search.Enabled = !c.isOff("discover")
		c.values.Budget.SearchTimeout = searchTimeout
	}
	err := c.values.validateDefaults()
	return c.values.Options, err
}

// ReadDefaults says what follows from words, which [ReadOptions] reads.
func ReadDefaults(words []string) (Defaults, error) {
	v, err := ReadOptions(words)
	if err != nil {
		return Defaults{}, err
	}
	asking := v.Budget
	asking.SearchTimeout = 0
	return Defaults{
		HasAddress:     v.Addr != "",
		Searches:       v.Search.Enabled,
		HasCredentials: v.Secured(),
		HasServices:    v.All || !slices.Equal(v.Services, []string{""}),
		Credentials:    metadata.Credentials(v.FixedHeaders),
		NeedsFull:      v.ALTS || v.SPIFFE,
		NeedsHealth:    v.Mode == options.ModeReady,
		Longest:        v.Budget.Longest(),
		LongestAsking:  asking.Longest(),
	}, nil
}

// RedactArgs returns words, which are flags of the probe, for logs and labels: the values of -rpc-header are hidden.
// If it is not sure, it hides too much.
func RedactArgs(words []string) []string {
	shown := slices.Clone(words)
	for i, word := range words {
		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		d := findFlag(name)
		if d == nil || d.redact == nil || !strings.HasPrefix(word, "-") {
			continue
		}
		if joined {
			shown[i] = word[:len(word)-len(value)] + d.redact(value)
		} else if i+1 < len(words) {
			shown[i+1] = d.redact(words[i+1])
		}
	}
	return shown
}
