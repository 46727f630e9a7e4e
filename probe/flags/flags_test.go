package flags

import (
	"flag"
	"slices"
	"strings"
	"testing"
)

func TestFlagsSayWhatThereIsToKnow(t *testing.T) {
	t.Parallel()
	all := All()
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
		if !slices.Contains(all, want) {
			t.Errorf("%+v is not among %+v", want, all)
		}
	}
}

// The flags of grpc-health-probe v0.4.56 are those of its main.go.
func TestFlagsOfUpstream(t *testing.T) {
	t.Parallel()
	want := strings.Fields("addr alts connect-timeout gzip rpc-header rpc-timeout service spiffe tls tls-ca-cert " +
		"tls-client-cert tls-client-key tls-no-verify tls-server-name user-agent v version")
	var got []string
	for _, f := range All() {
		if f.Upstream {
			got = append(got, f.Name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("flags of upstream are %q, want %q", got, want)
	}
}

// The type of a flag's value is its kind. A flag of a kind that there has not been yet needs a case in addTo.
func TestEachFlagIsOfAKind(t *testing.T) {
	t.Parallel()
	for i := range definitions {
		d := &definitions[i]
		set, v := flag.NewFlagSet("", flag.ContinueOnError), newValues()
		if d.addTo(set, v); set.Lookup(d.name) == nil {
			t.Errorf("-%s: flags.go: addTo has no case for %T", d.name, d.value(v))
		}
		if _, isLines := d.value(v).(*lines); isLines != (d.redact != nil) {
			t.Errorf("-%s: only lines can be redacted, and all are secrets", d.name)
		}
	}
}
