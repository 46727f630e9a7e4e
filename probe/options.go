package probe

import (
	"errors"
	"sync/atomic"
	"time"
)

// Options says what to probe and how. It holds the values from all sources together.
type Options struct {
	// Address is where the server is, parsed from -addr.
	Address Address
	// Services are the names to ask for, at least one; the empty one is the whole server.
	Services []string
	// UserAgent is the value of the user-agent header.
	UserAgent string
	// Budget is how long each step may take, and everything together.
	Budget Budget
	// Headers is the metadata of each call, names in lower case. Values of names that end in -bin are not encoded yet.
	Headers []Header
	// TLS turns on TLS, TLSNoVerify accepts any certificate.
	TLS, TLSNoVerify bool
	// TLSCACert, TLSClientCert and TLSClientKey are paths of PEM files.
	TLSCACert, TLSClientCert, TLSClientKey string
	// TLSServerName is the name to send, to verify and to use as authority, where it is not that of the address.
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
	output         format
	version        bool

	// wantsCert tells that the server has asked for a client certificate. Copies of the options share it, since they
	// share connections.
	wantsCert *atomic.Bool
}

// defaultOptions returns the options that hold where no flag is set.
func defaultOptions() Options {
	return Options{
		UserAgent: programName,
		Budget:    Budget{connect: time.Second, rpc: time.Second},
		mode:      modeReady,
		output:    formatText,
		wantsCert: new(atomic.Bool),
	}
}

// ServerName returns the name that the server's certificate must carry.
func (o *Options) ServerName() string {
	if o.TLSServerName != "" {
		return o.TLSServerName
	}
	return o.Address.ServerName
}

// Authority returns the :authority of requests (RFC 9113 section 8.3.1). As in grpc-go it is the server name of
// -tls-server-name where that is set, so that a server that routes by name sees the same name in TLS and in HTTP/2.
func (o *Options) Authority() string {
	if o.TLSServerName != "" {
		return o.TLSServerName
	}
	return o.Address.Authority
}

// validate checks the rules, and parses the values that have a format. The error is a *Failure.
func (o *Options) validate() error {
	if o.addr == "" {
		return misuse(errors.New("finding the server's address: none is set"),
			"set -addr=host:port, "+variablePrefix+"ADDR or PORT")
	}
	return o.validateWith(lookUpPort)
}

// validateDefaults is validate for values that other sources may complete later, so an address may be missing. The name
// of a port is looked up in the image that the probe runs in.
func (o *Options) validateDefaults() error { return o.validateWith(anyPort) }

func (o *Options) validateWith(lookUp portLookup) (err error) {
	if len(o.Services) == 0 {
		o.Services = []string{""}
	}
	if err := o.checkRules(); err != nil {
		return err
	}
	if o.SPIFFE {
		o.Budget.fetch = o.Budget.rpc // as grpc-health-probe has it
	}
	if o.fixedHeaders, err = parseHeaders(o.headers); err != nil {
		return err
	}
	if o.mountedHeaders, err = parseHeaderFiles(o.headerFiles); err != nil {
		return err
	}
	if o.addr != "" {
		o.Address, err = parseAddress(o.addr, lookUp)
	}
	return err
}
