package build

import (
	"strings"
	"testing"
)

// grpc-ecosystem's probe checks one service and knows none of this project's own flags.
func TestFlagsThatTheUpstreamProbeDoesNotHaveAreRefused(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"-addr=:5000 -service=a -tls -rpc-timeout=2s -rpc-header=a:b": "",
		"--addr :5000 -spiffe -v":                                     "",
		"-service=a,b":                                                "it checks one -service, not 2",
		"-service=a -service=b -service=c":                            "it checks one -service, not 3",
		"-mode=live":                                                  "flag provided but not defined: -mode",
		"-wait=5s":                                                    "flag provided but not defined: -wait",
	} {
		if want != "" {
			want = "checking $BP_GRPC_HEALTH_PROBE_ARGS for the downloaded probe: " + want +
				" (use the flags of grpc-ecosystem's probe, or another $BP_GRPC_HEALTH_PROBE_SOURCE)"
		}
		got := ""
		if err := checkUpstreamArgs(strings.Fields(words)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: the error is %q, want %q", words, got, want)
		}
	}
}
