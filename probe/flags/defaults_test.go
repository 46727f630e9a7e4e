package flags

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

func TestReadDefaultsTakesDefaultsThatOthersComplete(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{
		nil,
		{"-service=a", "--tls", "-tls-ca-cert", "/not/there/at/build/time.pem"},
		{"-addr=:5000", "-rpc-header=a: b", "-alts"},
		{
			"-service=a,b", "-mode=live", "-timeout=5s", "-wait=3s", "-o=json",
			"-rpc-header-file=a=/not/there/at/build/time",
		},
	} {
		if _, err := ReadDefaults(words); err != nil {
			t.Errorf("ReadDefaults(%q) = %v", words, err)
		}
	}
}

func TestReadDefaultsSaysWhatTheFlagsMean(t *testing.T) {
	t.Parallel()
	const two = 2 * time.Second
	const searching = two + searchTimeout
	for words, want := range map[string]Defaults{
		"":                  {Searches: true, NeedsHealth: true, Longest: searching, LongestAsking: two},
		"-addr= -mode=live": {Searches: true, Longest: searching, LongestAsking: two},
		"-all -addr=:1":     {HasAddress: true, HasServices: true, NeedsHealth: true, Longest: two, LongestAsking: two},
		"-service -addr -tls": {
			Searches: true, HasCredentials: true, HasServices: true, NeedsHealth: true, Longest: searching,
			LongestAsking: two,
		},
		"-addr=:1 -alts": {
			HasAddress: true, HasCredentials: true, NeedsFull: true, NeedsHealth: true,
			Longest: two, LongestAsking: two,
		},
		"-spiffe -connect-timeout=5s": {
			Searches: true, HasCredentials: true, NeedsFull: true, NeedsHealth: true,
			Longest: 5*time.Second + searching, LongestAsking: 5*time.Second + two,
		},
		"-rpc-timeout=9s -timeout=1500ms": {
			Searches: true, NeedsHealth: true,
			Longest: 1500 * time.Millisecond, LongestAsking: 1500 * time.Millisecond,
		},
		"-wait=30s": {
			Searches: true, NeedsHealth: true,
			Longest: 30*time.Second + searching, LongestAsking: 30*time.Second + two,
		},
	} {
		if got, err := ReadDefaults(strings.Fields(words)); !reflect.DeepEqual(got, want) || err != nil {
			t.Errorf("ReadDefaults of %q: %+v, %v, want %+v", words, got, err, want)
		}
	}
}

func TestReadDefaultsRefusesWhatTheProbeWould(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"-nonsense":          "checking default flags: parsing flags: flag provided but not defined: -nonsense",
		"-h":                 "checking default flags: parsing flags: -h, -help and -version cannot be defaults",
		"-version":           "checking default flags: parsing flags: -h, -help and -version cannot be defaults",
		"-tls -alts":         "checking flags: -tls and -alts exclude each other",
		"-addr=localhost":    `parsing address "localhost": missing port in address`,
		"-rpc-header=a_b!c":  "parsing -rpc-header 1: no colon in it",
		"-all -service=a":    "checking flags: -all and -service exclude each other",
		"-mode=alive":        `checking flags: -mode is ready, live or connect, not "alive"`,
		"-rpc-header-file=a": "parsing -rpc-header-file 1: no path in it",
	} {
		_, err := ReadDefaults(strings.Fields(words))
		if err == nil || err.Error() != want {
			t.Errorf("ReadDefaults of %q: error is %q, want %q", words, err, want)
		}
		failed, ok := errors.AsType[*outcome.Failure](err)
		if !ok || failed.Hint == "" || failed.Code != outcome.ExitUsage {
			t.Errorf("ReadDefaults of %q: want a failure of exit code 1 with a hint, got %#v", words, failed)
		}
	}
}

func TestRedactArgsHidesHeaderValues(t *testing.T) {
	t.Parallel()
	words := []string{
		"-tls", "-rpc-header=a: s3cret", "--rpc-header=b:s3cret\nc:s3cret", "-rpc-header", "d: s3cret",
		"-rpc-header=s3cret", "-service=e",
		"-rpc-header-file=a=token", "-rpc-header-file", "b=/run/token", "-rpc-header-file=a: s3cret=",
		"-rpc-header-file", "s3cret", "-rpc-header",
	}
	want := []string{
		"-tls", "-rpc-header=a: [hidden]", "--rpc-header=b: [hidden]", "-rpc-header", "d: [hidden]",
		"-rpc-header=[hidden]", "-service=e",
		"-rpc-header-file=a=token", "-rpc-header-file", "b=/run/token", "-rpc-header-file=[hidden]",
		"-rpc-header-file", "[hidden]", "-rpc-header",
	}
	given := slices.Clone(words)
	if got := RedactArgs(words); !slices.Equal(got, want) {
		t.Errorf("RedactArgs gave %q, want %q", got, want)
	}
	if !slices.Equal(words, given) {
		t.Errorf("RedactArgs changed its argument to %q", words)
	}
}
