package bridgeflags

import (
	"flag"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// The text for -h has each flag and its default as package flag shows it, each source of a value, and no flag that the
// program lacks.
func TestHelp(t *testing.T) {
	t.Parallel()
	text := help()
	for _, want := range []string{
		"\n  -listen address\n", "(default \":8086\")", "\n  -allow addresses\n", "(default 1s)", ListenEnv, AllowEnv,
		NameEnv, BackgroundEnv, "\n  -background\n", "GRPC_HEALTH_PROBE_", flags.ArgsFileName, "$PORT",
		flags.AddressFileName,
		Timeout.String(),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, unwanted := range []string{"-wait", "how long"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("the bridge does not do %q, which is in\n%s", unwanted, text)
		}
	}
	if strings.Contains(text, "panic") || strings.Contains(text, "(default false)") {
		t.Errorf("defaults are not shown as they are:\n%s", text)
	}
	has := map[string]bool{Listen: true, Allow: true, Name: true, Background: true, "h": true}
	flags.New(Program, nil).Flags.VisitAll(func(f *flag.Flag) { has[f.Name] = unsupported[f.Name] == "" })
	for _, found := range regexp.MustCompile(`(?m)(?:^|[ (])-([a-z][a-z-]*)`).FindAllStringSubmatch(text, -1) {
		if !has[found[1]] {
			t.Errorf("-%s is named, which the bridge lacks", found[1])
		}
	}
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	got, err := parseNetworks("10.0.0.7, 10.1.2.3/16,,fd00::1,fd00::/64,::ffff:10.0.0.8,::ffff:10.2.3.4/112")
	want := []netip.Prefix{
		netip.MustParsePrefix("10.0.0.7/32"), netip.MustParsePrefix("10.1.0.0/16"),
		netip.MustParsePrefix("fd00::1/128"), netip.MustParsePrefix("fd00::/64"),
		netip.MustParsePrefix("10.0.0.8/32"), netip.MustParsePrefix("10.2.0.0/16"),
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("networks are %v, %v, want %v", got, err, want)
	}
	for _, text := range []string{"$(HOST_IP)", "10.0.0.0/33", "node", "10.0.0.7:80", "::ffff:10.0.0.0/95"} {
		if networks, err := parseNetworks(text); err == nil {
			t.Errorf("%q is read as %v", text, networks)
		}
	}
}

// An answer comes within the second that the kubelet waits, unless flags say how long something may take.
func TestLongestTime(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]time.Duration{
		"": Timeout, "-rpc-timeout=3s": 4 * time.Second, "-connect-timeout=2s": 3 * time.Second,
		"-timeout=5s": 2 * time.Second,
	} {
		f, _, err := Read(append([]string{"-addr=:1"}, strings.Fields(words)...), address.AnyPort, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Options.Budget.Longest(); got != want {
			t.Errorf("with %q it takes %v, want %v", words, got, want)
		}
	}
}

// A misspelt variable is named in the log of a bridge, with -v or without. Kubernetes' own are none.
func TestVariablesWithoutEffectAreNamed(t *testing.T) {
	for name, value := range map[string]string{
		"GRPC_HEALTH_BRIDGE_LISTENS": ":1", "GRPC_HEALTH_PROBE_TLS_CACERT": "/ca.pem", "GRPC_HEALTH_BRIDGE_ALOW": "",
		"GRPC_HEALTH_BRIDGE_SERVICE_HOST": "10.0.0.1", "GRPC_HEALTH_BRIDGE_PORT": "tcp://10.0.0.1:8086",
		AllowEnv: "10.0.0.7",
	} {
		t.Setenv(name, value)
	}
	want := []string{
		`environment variable "GRPC_HEALTH_BRIDGE_LISTENS" has no effect: did you mean GRPC_HEALTH_BRIDGE_LISTEN?`,
		`environment variable "GRPC_HEALTH_PROBE_TLS_CACERT" has no effect: did you mean ` +
			`GRPC_HEALTH_PROBE_TLS_CA_CERT?`,
	}
	f, _, err := Read([]string{"-addr=:1"}, address.AnyPort, false)
	if err != nil || !slices.Equal(f.Notes, want) {
		t.Errorf("the notes are %q, %v, want %q", f.Notes, err, want)
	}
}
