package build

import (
	"strings"
	"testing"
)

// grpc-ecosystem's probe checks one service and knows none of this project's own flags.
func TestFlagsThatTheUpstreamProbeDoesNotHaveAreRefused(t *testing.T) {
	t.Parallel()
	for words, taken := range map[string]bool{
		"-addr=:5000 -service=a -tls -rpc-timeout=2s -rpc-header=a:b": true,
		"--addr :5000 -spiffe -v":                                     true,
		"-service=a,b":                                                false,
		"-service=a -service=b":                                       false,
		"-mode=live":                                                  false,
		"-wait=5s":                                                    false,
	} {
		if err := checkUpstreamArgs(strings.Fields(words)); (err == nil) != taken {
			t.Errorf("%s: %v", words, err)
		}
	}
}
