package probe

import (
	"errors"
	"flag"
	"time"
)

// Options says what to probe and how, from the sources of values together.
type Options struct {
	// Address is where the server is, parsed from -addr.
	Address Address
	// Services are the names to ask for, at least one; the empty one is the whole
	// server.
	Services []string
	// UserAgent is what the probe calls itself.
	UserAgent string
	// ConnectTimeout bounds everything up to a usable connection, RPCTimeout
	// one call on it.
	ConnectTimeout, RPCTimeout time.Duration
	// Headers is the metadata of each call, names in lower case. Values of
	// names that end in -bin are not encoded yet.
	Headers []Header
	// TLS turns on TLS, TLSNoVerify accepts any certificate.
	TLS, TLSNoVerify bool
	// TLSCACert, TLSClientCert and TLSClientKey are paths of PEM files.
	TLSCACert, TLSClientCert, TLSClientKey string
	// TLSServerName is the name to send, to verify and to use as authority,
	// where it is not that of the address.
	TLSServerName string
	// ALTS and SPIFFE choose credentials other than those of -tls-*.
	ALTS, SPIFFE bool
	// GZIP compresses requests.
	GZIP bool
	// Verbose says where values came from and how long things took.
	Verbose bool

	addr           string
	headers        lines
	headerFiles    lines
	fixedHeaders   []Header     // parsed from headers
	mountedHeaders []headerFile // parsed from headerFiles
	all, watch     bool
	mode           mode
	wait           time.Duration // zero is one attempt
	timeout        time.Duration // zero is none
	output         format
	version        bool
}

// newFlags is the one table of flags: flag set, environment variables and help
// all come from it. Names, defaults and meanings are those of
// grpc-health-probe v0.4.56, as far as it has them.
func newFlags(o *Options) *flag.FlagSet {
	f := silentFlagSet()
	f.StringVar(&o.addr, "addr", "", "`address` of the server: host:port, :port, [::1]:port, unix:path, unix-abstract:name")
	f.Var((*serviceNames)(&o.Services), "service", "`name` of the service to check, or several as a,b; may be given more than once; empty is the whole server")
	f.BoolVar(&o.all, "all", false, "check every service that the server lists (Health/List)")
	f.StringVar((*string)(&o.mode), "mode", string(modeReady), "`what` passes: ready, SERVING alone; live, any answer of the server; connect, an HTTP/2 connection")
	f.BoolVar(&o.watch, "watch", false, "print each change of the status (Health/Watch) until stopped, or until -timeout")
	f.DurationVar(&o.wait, "wait", 0, "`duration` over which to try again until it passes")
	f.DurationVar(&o.timeout, "timeout", 0, "`duration` everything together may take, -wait included")
	f.StringVar((*string)(&o.output), "o", string(formatText), "`format` of the outcome: text, or json for one line on standard output")
	f.StringVar(&o.UserAgent, "user-agent", "grpc_health_probe", "`text` of the user-agent header")
	f.DurationVar(&o.ConnectTimeout, "connect-timeout", time.Second, "`duration` the connection may take, such as 500ms or 2s")
	f.DurationVar(&o.RPCTimeout, "rpc-timeout", time.Second, "`duration` the health check may take, such as 500ms or 2s")
	f.Var(&o.headers, "rpc-header", "metadata to send, as `'name: value'`; may be given more than once")
	f.Var(&o.headerFiles, "rpc-header-file", "metadata whose value is read from a file at each attempt, as `name=path`; may be given more than once")
	f.BoolVar(&o.TLS, "tls", false, "use TLS; without it nothing is encrypted")
	f.BoolVar(&o.TLSNoVerify, "tls-no-verify", false, "accept any certificate of the server (insecure)")
	f.StringVar(&o.TLSCACert, "tls-ca-cert", "", "PEM `file` of the CAs to trust, instead of the system's")
	f.StringVar(&o.TLSClientCert, "tls-client-cert", "", "PEM `file` of the probe's own certificate")
	f.StringVar(&o.TLSClientKey, "tls-client-key", "", "PEM `file` of the key of -tls-client-cert")
	f.StringVar(&o.TLSServerName, "tls-server-name", "", "`name` the server's certificate must carry, instead of the address's host")
	f.BoolVar(&o.ALTS, "alts", false, "use ALTS, on Google Cloud")
	f.BoolVar(&o.SPIFFE, "spiffe", false, "use mTLS with credentials of the SPIFFE Workload API at SPIFFE_ENDPOINT_SOCKET")
	f.BoolVar(&o.GZIP, "gzip", false, "compress requests with gzip")
	f.BoolVar(&o.Verbose, "v", false, "say where each value came from and how long connect and RPC took")
	f.BoolVar(&o.version, "version", false, "print the version and exit")
	return f
}

// ServerName returns the name that the server's certificate must carry.
func (o *Options) ServerName() string {
	if o.TLSServerName != "" {
		return o.TLSServerName
	}
	return o.Address.ServerName
}

// Authority returns the :authority of requests (RFC 9113 section 8.3.1). A
// server name takes its place, as it does in grpc-go, so that servers that
// route by name see one name in TLS and in HTTP/2.
func (o *Options) Authority() string {
	if o.TLSServerName != "" {
		return o.TLSServerName
	}
	return o.Address.Authority
}

// validate applies the rules to the values and parses those that have a form.
func (o *Options) validate() error {
	if o.addr == "" {
		return misuse(errors.New("finding the server's address: none is set"),
			"set -addr=host:port, "+variable("addr")+" or PORT")
	}
	return o.validateDefaults()
}

// validateDefaults is validate for a set of values that others may complete:
// it does not miss an address.
func (o *Options) validateDefaults() (err error) {
	if len(o.Services) == 0 {
		o.Services = []string{""}
	}
	if err := o.checkRules(); err != nil {
		return err
	}
	if o.fixedHeaders, err = parseHeaders(o.headers); err != nil {
		return err
	}
	if o.mountedHeaders, err = parseHeaderFiles(o.headerFiles); err != nil {
		return err
	}
	if o.addr != "" {
		o.Address, err = ParseAddress(o.addr)
	}
	return err
}
