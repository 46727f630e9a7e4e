// Package flags has the flags of the gRPC health probe: the table of flags, the sources of values, the rules between
// flags, and the help.
//
// In go the words of a command line, the environment, and the args file beside the executable. Out come the options of
// the check, or an error with a hint about the necessary change, or a text for -h and -version. The meaning of flags
// can be checked without a network: the package needs neither TLS nor package net, so a program that only reads flags,
// such as the build of an image, compiles quickly.
//
// Begin with [New]. The build of an image uses [ReadDefaults], [ReadOptions], [FormatArgsFile], [RedactArgs] and [All].
package flags

import (
	"flag"
	"io"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
)

// definition is the complete knowledge about one flag, from which the flag set, the environment variables, the help,
// the redaction in logs, and [All] follow.
type definition struct {
	name string
	// usage is the flag's line in the help; the word in back quotes stands for the value.
	usage string
	// upstream means that grpc-health-probe v0.4.56 has the flag, with the same meaning and default.
	upstream bool
	// noVariable means that the flag has no environment variable.
	noVariable bool
	// redact returns the public part of a line of the value; nil if nothing has to be hidden.
	redact func(line string) string

	// value returns a pointer to the value, which holds the default at first. The type is the kind of the flag: see
	// addTo.
	value func(*values) any
}

// definitions is the only table of flags.
var definitions = []definition{
	{
		name: "addr", upstream: true, value: func(v *values) any { return &v.Addr },
		usage: "`address` of the server: host:port, :port, [::1]:port, unix:path, unix-abstract:name",
	},
	{
		name: "discover", value: func(v *values) any { return &v.discover },
		usage: "say what this container listens on, what each socket speaks, and which probes to paste",
	},
	{
		name: "service", upstream: true,
		value: func(v *values) any { return (*serviceNames)(&v.Services) },
		usage: "`name` of the service to check, or several as a,b; may be given more than once; " +
			"empty is the whole server",
	},
	{
		name: "all", value: func(v *values) any { return &v.All },
		usage: "check every service that the server lists (Health/List)",
	},
	{
		name: "mode", value: func(v *values) any { return (*string)(&v.Mode) },
		usage: "`what` passes: ready, only SERVING; live, any answer of the server; connect, an HTTP/2 connection",
	},
	{
		name: "watch", value: func(v *values) any { return &v.Watch },
		usage: "print each change of the status (Health/Watch) until stopped, or until -timeout",
	},
	{
		name: "wait", value: func(v *values) any { return &v.Budget.Wait },
		usage: "`duration` for which to try again until the check passes",
	},
	{
		name: "timeout", value: func(v *values) any { return &v.Budget.Timeout },
		usage: "`duration` everything together may take, -wait included",
	},
	{
		name: "o", value: func(v *values) any { return (*string)(&v.format) },
		usage: "`format` of the outcome: text, or json for one line on standard output",
	},
	{
		name: "user-agent", upstream: true, value: func(v *values) any { return &v.UserAgent },
		usage: "`text` of the user-agent header",
	},
	{
		name: "connect-timeout", upstream: true, value: func(v *values) any { return &v.Budget.ConnectTimeout },
		usage: "`duration` the connection may take, such as 500ms or 2s",
	},
	{
		name: "rpc-timeout", upstream: true, value: func(v *values) any { return &v.Budget.RPCTimeout },
		usage: "`duration` the health check may take, such as 500ms or 2s",
	},
	{
		name: "rpc-header", upstream: true, value: func(v *values) any { return &v.headers }, redact: metadata.Redact,
		usage: "metadata to send, as `'name: value'`; may be given more than once",
	},
	{
		name: "rpc-header-file", value: func(v *values) any { return &v.headerFiles }, redact: metadata.RedactFile,
		usage: "metadata whose value is read from a file at each attempt, as `name=path`; may be given more than once",
	},
	{
		name: "tls", upstream: true, value: func(v *values) any { return &v.TLS },
		usage: "use TLS; without it nothing is encrypted",
	},
	{
		name: "tls-no-verify", upstream: true, value: func(v *values) any { return &v.TLSNoVerify },
		usage: "accept any certificate of the server (insecure)",
	},
	{
		name: "tls-ca-cert", upstream: true, value: func(v *values) any { return &v.TLSCACert },
		usage: "PEM `file` of the CAs to trust, instead of the system's",
	},
	{
		name: "tls-client-cert", upstream: true, value: func(v *values) any { return &v.TLSClientCert },
		usage: "PEM `file` of the probe's own certificate",
	},
	{
		name: "tls-client-key", upstream: true, value: func(v *values) any { return &v.TLSClientKey },
		usage: "PEM `file` of the key of -tls-client-cert",
	},
	{
		name: "tls-server-name", upstream: true, value: func(v *values) any { return &v.TLSServerName },
		usage: "`name` to verify the server's certificate for, instead of the address's host",
	},
	{
		name: "authority", value: func(v *values) any { return &v.SetAuthority },
		usage: "`name` of the server in requests (:authority), for servers behind one address; with TLS it is also " +
			"the one to verify, unless -tls-server-name is set",
	},
	{
		name: "alts", upstream: true, value: func(v *values) any { return &v.ALTS },
		usage: "use ALTS, on Google Cloud (full variant only)",
	},
	{
		name: "spiffe", upstream: true, value: func(v *values) any { return &v.SPIFFE },
		usage: "use mTLS with credentials of the SPIFFE Workload API at SPIFFE_ENDPOINT_SOCKET (full variant only)",
	},
	{
		name: "gzip", upstream: true, value: func(v *values) any { return &v.GZIP },
		usage: "compress requests with gzip",
	},
	{
		name: "v", upstream: true, value: func(v *values) any { return &v.verbose },
		usage: "say where each value comes from, how long connecting and the call took, and which listed services " +
			"are not SERVING",
	},
	{
		name: "version", upstream: true, noVariable: true, value: func(v *values) any { return &v.version },
		usage: "print the version and exit",
	},
}

// programName is the name of the probe, whatever name the file has.
const programName = "grpc_health_probe"

func findFlag(name string) *definition {
	for i := range definitions {
		if definitions[i].name == name {
			return &definitions[i]
		}
	}
	return nil
}

// variablePrefix begins the names of the flags' environment variables.
const variablePrefix = "GRPC_HEALTH_PROBE_"

// variable returns the name of the flag's environment variable, or "" for none.
func (d *definition) variable() string {
	if d.noVariable {
		return ""
	}
	return Variable(d.name)
}

// Variable returns the name of a flag's environment variable, by the flag's name. The flag must have a variable.
func Variable(name string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// addTo adds the flag to a flag set, which writes the value to v.
func (d *definition) addTo(f *flag.FlagSet, v *values) {
	switch value := d.value(v).(type) {
	case *bool:
		f.BoolVar(value, d.name, *value, d.usage)
	case *time.Duration:
		f.DurationVar(value, d.name, *value, d.usage)
	case *string:
		f.StringVar(value, d.name, *value, d.usage)
	case flag.Value:
		f.Var(value, d.name, d.usage)
	default:
		panic("addTo has no case for the type of the value of -" + d.name)
	}
}

// newSet returns a flag set with all flags, which writes the values to v. The set prints nothing: values may be
// secrets.
func newSet(v *values) *flag.FlagSet {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	for i := range definitions {
		definitions[i].addTo(f, v)
	}
	return f
}

// Flag describes a flag for documents and for the build of an image.
type Flag struct {
	// Name has no dash.
	Name string
	// Usage is the flag's line in the help. Value is the word in Usage for the value, "" for a boolean flag.
	Usage, Value string
	// Default is the value without the flag, in the form of a command line.
	Default string
	// Variable is the environment variable of the flag, "" for none.
	Variable string
	// Repeatable means that the flag may be given more than once, each time with another value.
	Repeatable bool
	// Upstream means that grpc-health-probe v0.4.56 also has the flag, with the same meaning and default.
	Upstream bool
}

// All returns all flags.
func All() []Flag {
	v := newValues()
	set := newSet(v)
	all := make([]Flag, len(definitions))
	for i := range definitions {
		d := &definitions[i]
		f := set.Lookup(d.name)
		value, usage := flag.UnquoteUsage(f)
		_, repeats := f.Value.(repeatable)
		all[i] = Flag{
			Name: d.name, Usage: usage, Value: value, Default: f.DefValue, Variable: d.variable(),
			Repeatable: repeats, Upstream: d.upstream,
		}
	}
	return all
}
