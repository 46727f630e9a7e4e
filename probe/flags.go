package probe

import (
	"flag"
	"io"
	"strings"
	"time"
)

// flagDefinition is everything that has to be known about one flag. The flag set, the environment variables, the help,
// what is hidden in logs, and [Flags] follow from it.
type flagDefinition struct {
	name string
	// usage is its line in the help; the word in back quotes stands for the value.
	usage string
	// upstream tells that grpc-health-probe v0.4.56 has the flag, with the same meaning and default.
	upstream bool
	// noVariable tells that there is no environment variable for it.
	noVariable bool
	// noBridge is what to do instead, for a flag that the bridge does not have: it neither ends nor tries again, prints
	// no outcome, and has the lean transport. Empty is a flag that it has.
	noBridge Hint
	// redact returns what may be shown of a line of the value; nil where nothing has to be hidden.
	redact func(line string) string

	// One of these returns where the value is in the options. What is there before is the default.
	boolean  func(*Options) *bool
	duration func(*Options) *time.Duration
	text     func(*Options) *string
	services func(*Options) *serviceNames
	lines    func(*Options) *lines
}

const onlyFull Hint = "use an exec probe of the full variant in place of the bridge"

// flagDefinitions is the only table of flags.
var flagDefinitions = []flagDefinition{
	{
		name: "addr", upstream: true, text: func(o *Options) *string { return &o.addr },
		usage: "`address` of the server: host:port, :port, [::1]:port, unix:path, unix-abstract:name",
	},
	{
		name: "service", upstream: true,
		services: func(o *Options) *serviceNames { return (*serviceNames)(&o.Services) },
		usage: "`name` of the service to check, or several as a,b; may be given more than once; " +
			"empty is the whole server",
	},
	{
		name: "all", boolean: func(o *Options) *bool { return &o.all },
		usage: "check every service that the server lists (Health/List)",
	},
	{
		name: "mode", text: func(o *Options) *string { return (*string)(&o.mode) },
		usage: "`what` passes: ready, SERVING alone; live, any answer of the server; connect, an HTTP/2 connection",
	},
	{
		name: "watch", boolean: func(o *Options) *bool { return &o.watch },
		noBridge: "leave it out, and call Health/Watch of the bridge",
		usage:    "print each change of the status (Health/Watch) until stopped, or until -timeout",
	},
	{
		name: "wait", duration: func(o *Options) *time.Duration { return &o.Budget.wait },
		noBridge: "leave it out: whoever asks the bridge tries again",
		usage:    "`duration` over which to try again until it passes",
	},
	{
		name: "timeout", duration: func(o *Options) *time.Duration { return &o.Budget.timeout },
		usage: "`duration` everything together may take, -wait included",
	},
	{
		name: "o", text: func(o *Options) *string { return (*string)(&o.output) },
		noBridge: "leave it out, and get /healthz of the bridge with Accept: application/json",
		usage:    "`format` of the outcome: text, or json for one line on standard output",
	},
	{
		name: "user-agent", upstream: true, text: func(o *Options) *string { return &o.UserAgent },
		usage: "`text` of the user-agent header",
	},
	{
		name: "connect-timeout", upstream: true, duration: func(o *Options) *time.Duration { return &o.Budget.connect },
		usage: "`duration` the connection may take, such as 500ms or 2s",
	},
	{
		name: "rpc-timeout", upstream: true, duration: func(o *Options) *time.Duration { return &o.Budget.rpc },
		usage: "`duration` the health check may take, such as 500ms or 2s",
	},
	{
		name: "rpc-header", upstream: true, lines: func(o *Options) *lines { return &o.headers }, redact: redactHeader,
		usage: "metadata to send, as `'name: value'`; may be given more than once",
	},
	{
		name: "rpc-header-file", lines: func(o *Options) *lines { return &o.headerFiles }, redact: redactHeaderFile,
		usage: "metadata whose value is read from a file at each attempt, as `name=path`; may be given more than once",
	},
	{
		name: "tls", upstream: true, boolean: func(o *Options) *bool { return &o.TLS },
		usage: "use TLS; without it nothing is encrypted",
	},
	{
		name: "tls-no-verify", upstream: true, boolean: func(o *Options) *bool { return &o.TLSNoVerify },
		usage: "accept any certificate of the server (insecure)",
	},
	{
		name: "tls-ca-cert", upstream: true, text: func(o *Options) *string { return &o.TLSCACert },
		usage: "PEM `file` of the CAs to trust, instead of the system's",
	},
	{
		name: "tls-client-cert", upstream: true, text: func(o *Options) *string { return &o.TLSClientCert },
		usage: "PEM `file` of the probe's own certificate",
	},
	{
		name: "tls-client-key", upstream: true, text: func(o *Options) *string { return &o.TLSClientKey },
		usage: "PEM `file` of the key of -tls-client-cert",
	},
	{
		name: "tls-server-name", upstream: true, text: func(o *Options) *string { return &o.TLSServerName },
		usage: "`name` the server's certificate must carry, instead of the address's host",
	},
	{
		name: "alts", upstream: true, noBridge: onlyFull, boolean: func(o *Options) *bool { return &o.ALTS },
		usage: "use ALTS, on Google Cloud",
	},
	{
		name: "spiffe", upstream: true, noBridge: onlyFull, boolean: func(o *Options) *bool { return &o.SPIFFE },
		usage: "use mTLS with credentials of the SPIFFE Workload API at SPIFFE_ENDPOINT_SOCKET",
	},
	{
		name: "gzip", upstream: true, boolean: func(o *Options) *bool { return &o.GZIP },
		usage: "compress requests with gzip",
	},
	{
		name: "v", upstream: true, boolean: func(o *Options) *bool { return &o.Verbose },
		usage: "say where each value came from and how long connect and RPC took",
	},
	{
		name: "version", upstream: true, noVariable: true, boolean: func(o *Options) *bool { return &o.version },
		usage: "print the version and exit",
	},
}

// programName is the name of the probe, whatever its file is called.
const programName = "grpc_health_probe"

// findFlag returns the definition of a flag, or nil.
func findFlag(name string) *flagDefinition {
	for i := range flagDefinitions {
		if flagDefinitions[i].name == name {
			return &flagDefinitions[i]
		}
	}
	return nil
}

// variablePrefix is what the names of the environment variables of flags begin with.
const variablePrefix = "GRPC_HEALTH_PROBE_"

// variable returns the name of the flag's environment variable, or "" where it has none.
func (d *flagDefinition) variable() string {
	if d.noVariable {
		return ""
	}
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(d.name, "-", "_"))
}

// addTo adds the flag to a flag set, which writes its value to the options.
func (d *flagDefinition) addTo(f *flag.FlagSet, o *Options) {
	switch {
	case d.boolean != nil:
		value := d.boolean(o)
		f.BoolVar(value, d.name, *value, d.usage)
	case d.duration != nil:
		value := d.duration(o)
		f.DurationVar(value, d.name, *value, d.usage)
	case d.text != nil:
		value := d.text(o)
		f.StringVar(value, d.name, *value, d.usage)
	case d.services != nil:
		f.Var(d.services(o), d.name, d.usage)
	case d.lines != nil:
		f.Var(d.lines(o), d.name, d.usage)
	}
}

// newFlags returns a flag set with all flags, which writes their values to the options. It prints nothing, because it
// would print values, which may be secrets.
func newFlags(o *Options) *flag.FlagSet {
	f := flag.NewFlagSet(programName, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	for i := range flagDefinitions {
		flagDefinitions[i].addTo(f, o)
	}
	return f
}

// Flag is what documents and the build of an image have to know about a flag.
type Flag struct {
	// Name is without the dash.
	Name string
	// Usage is its line in the help, and Value the word in it that stands for the value, "" for a boolean flag.
	Usage, Value string
	// Default is the value without the flag, as it is written on a command line.
	Default string
	// Variable is the environment variable that sets it, "" where none does.
	Variable string
	// Repeatable tells that it may be given more than once, each time with another value.
	Repeatable bool
	// Upstream tells that grpc-health-probe v0.4.56 has it too, with the same meaning and default.
	Upstream bool
}

// Flags returns all flags.
func Flags() []Flag {
	options := defaultOptions()
	set := newFlags(&options)
	flags := make([]Flag, len(flagDefinitions))
	for i := range flagDefinitions {
		d := &flagDefinitions[i]
		f := set.Lookup(d.name)
		value, usage := flag.UnquoteUsage(f)
		flags[i] = Flag{
			Name: d.name, Usage: usage, Value: value, Default: f.DefValue, Variable: d.variable(),
			Repeatable: d.services != nil || d.lines != nil, Upstream: d.upstream,
		}
	}
	return flags
}
