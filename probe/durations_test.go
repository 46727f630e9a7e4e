package probe_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/flags"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// Each duration is refused in words that name its flag and say what to write, or it means something: zero means no
// limit, or no second attempt, and the longest is never reached.
func TestBoundsOfDurations(t *testing.T) {
	t.Parallel()
	server, err := probetest.StartWith("server", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	const (
		refused   = "exit status 1"
		notParsed = "it is not a duration such as 500ms or 2s, of at most 2562047h\n"
		negative  = " must not be negative, as "
		zero      = " must be more than zero, not "
	)
	for _, f := range flags.All() {
		if f.Value != "duration" {
			continue
		}
		below, nothing, ends := negative, "", ""
		if f.Default != "0s" {
			below, nothing, ends = zero, zero, refused
		}
		for value, want := range map[string]struct{ ends, says string }{
			"-1ns":                        {refused, below},
			"-2562047h47m16.854775808s":   {refused, below},
			"0":                           {ends, nothing},
			"2562047h47m16.854775807s":    {},
			"2562047h47m16.854775808s":    {refused, notParsed},
			strings.Repeat("9", 99) + "h": {refused, notParsed},
			"1":                           {refused, notParsed},
			"1d":                          {refused, notParsed},
			"NaNs":                        {refused, notParsed},
			"":                            {refused, notParsed},
		} {
			for program := range programs {
				t.Run(program+" -"+f.Name+"="+value, func(t *testing.T) {
					t.Parallel()
					ended, out := probeWith(program, "-addr="+server.Addr, "-"+f.Name+"="+value)
					if ended != want.ends || !strings.Contains(out, want.says) ||
						want.ends != "" && !strings.Contains(out, "-"+f.Name) {
						t.Errorf("it ends with %q, and says\n%s\nwant %q, and %q", ended, out, want.ends, want.says)
					}
				})
			}
		}
	}
}

// probeWith runs a probe. It returns how the probe ends, "" if it passes, and what it prints.
func probeWith(program string, words ...string) (ended, printed string) {
	cmd := exec.Command(program, words...)
	cmd.Env = probetest.PatientEnv()
	out, err := cmd.CombinedOutput()
	if err != nil {
		ended = err.Error()
	}
	return ended, string(out)
}
