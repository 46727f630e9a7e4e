package flags

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/options"
)

// Defaults is the knowledge of an image's build about default flags.
type Defaults struct {
	// HasAddress means that the flags name the address of the server.
	HasAddress bool
	// Searches means that a probe with the flags finds the server wherever the server listens.
	Searches bool
	// HasCredentials means that the flags secure the transport.
	HasCredentials bool
	// HasServices means that the flags name the services to ask for.
	HasServices bool
	// Credentials are the names of the headers with credentials.
	Credentials []string
	// NeedsFull means that a flag is only for the full probe: -alts or -spiffe.
	NeedsFull bool
	// NeedsHealth means that a probe can only pass if the server has the health service.
	NeedsHealth bool
	// Longest is the longest time of a probe, LongestAsking the longest time of a probe that does not look for the
	// server.
	Longest, LongestAsking time.Duration
}

// ReadOptions reads words as the probe's default flags. Parsing is the same as in the probe, with every rule that does
// not depend on values of run time. ReadOptions does not read the files named by flags, and the port of an address is 0
// for a name. The error is a *[outcome.Failure] with the necessary change in Hint.
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

// ReadDefaults returns the consequences of words, as read by [ReadOptions].
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

// RedactArgs returns words, the flags of the probe, for logs and labels: the values of -rpc-header are hidden. In
// doubt, RedactArgs hides too much.
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
