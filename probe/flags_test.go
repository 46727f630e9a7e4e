package probe

import (
	"slices"
	"strings"
	"testing"
)

func TestFlagsSayWhatThereIsToKnow(t *testing.T) {
	t.Parallel()
	flags := Flags()
	for _, want := range []Flag{
		{
			Name: "connect-timeout", Usage: "duration the connection may take, such as 500ms or 2s", Value: "duration",
			Default: "1s", Variable: "GRPC_HEALTH_PROBE_CONNECT_TIMEOUT", Upstream: true,
		},
		{
			Name: "rpc-header", Usage: "metadata to send, as 'name: value'; may be given more than once",
			Value: "'name: value'", Variable: "GRPC_HEALTH_PROBE_RPC_HEADER", Repeatable: true, Upstream: true,
		},
		{
			Name: "all", Usage: "check every service that the server lists (Health/List)", Default: "false",
			Variable: "GRPC_HEALTH_PROBE_ALL",
		},
		{Name: "version", Usage: "print the version and exit", Default: "false", Upstream: true},
	} {
		if !slices.Contains(flags, want) {
			t.Errorf("%+v is not among %+v", want, flags)
		}
	}
}

// The flags of grpc-health-probe v0.4.56 are those of its main.go.
func TestFlagsOfUpstream(t *testing.T) {
	t.Parallel()
	want := strings.Fields("addr alts connect-timeout gzip rpc-header rpc-timeout service spiffe tls tls-ca-cert " +
		"tls-client-cert tls-client-key tls-no-verify tls-server-name user-agent v version")
	var got []string
	for _, f := range Flags() {
		if f.Upstream {
			got = append(got, f.Name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("flags of upstream are %q, want %q", got, want)
	}
}

func TestEachFlagHasOneValue(t *testing.T) {
	t.Parallel()
	for _, d := range flagDefinitions {
		values := 0
		for _, has := range []bool{
			d.boolean != nil, d.duration != nil, d.text != nil, d.services != nil, d.lines != nil,
		} {
			if has {
				values++
			}
		}
		if values != 1 || d.redact != nil && d.lines == nil {
			t.Errorf("-%s has %d values; only lines can be redacted", d.name, values)
		}
	}
}
