// Package options is the target, the questions and the time of a probe. In go the values of flags; out come [Options]
// for the check and its transports. The package is separate from the check since the build of an image checks flags
// too, without TLS or a network. Begin with [New].
package options

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// Options says what to probe and how. [New] returns the defaults.
type Options struct {
	// Addr is the address of the server in the form of -addr. Address is the parsed Addr.
	Addr    string
	Address address.Address
	// Services are the names to ask for, at least one; the empty name is the whole server.
	Services []string
	// All asks for every service listed by the server instead.
	All bool
	// Watch follows the status of the one service until the end of the budget.
	Watch bool
	// Mode is the condition to pass.
	Mode Mode
	// UserAgent is the value of the user-agent header.
	UserAgent string
	// Budget is the time of each step, and of everything together.
	Budget Budget
	// FixedHeaders and MountedHeaders are the metadata of each call. Headers holds both while an attempt runs, names in
	// lower case. Values of names that end in -bin are not encoded yet.
	FixedHeaders   []metadata.Header
	MountedHeaders []metadata.File
	Headers        []metadata.Header
	// TLS turns on TLS, TLSNoVerify accepts any certificate.
	TLS, TLSNoVerify bool
	// TLSCACert, TLSClientCert and TLSClientKey are paths of PEM files.
	TLSCACert, TLSClientCert, TLSClientKey string
	// TLSServerName is the name to send, to verify and to use as authority in place of the name in the address. As in
	// grpc-go a port may follow the name, for the authority only.
	TLSServerName string
	// SetAuthority is the authority in place of TLSServerName or the address. A port may follow the name.
	SetAuthority string
	// ALTS and SPIFFE choose credentials other than those of -tls-*.
	ALTS, SPIFFE bool
	// GZIP compresses requests.
	GZIP bool

	// Search says how to look for the server if Addr is not the user's.
	Search Search

	// WantsCert means that the server has asked for a client certificate. Copies of the options share WantsCert, since
	// copies share connections.
	WantsCert *atomic.Bool
}

// Search says how to look for a server without an address from the user. Addr is then the address found by the build of
// the image, or empty.
type Search struct {
	// Enabled means to ask the sockets of the container if Addr is empty, or no gRPC server answers at Addr.
	Enabled bool
	// Found means that the build has found Addr, so no user has said whether there is TLS.
	Found bool
	// TLS means that the build has found signs of TLS, so TLS is tried first.
	TLS bool
	// Alone means that the build has found one server in the app, which speaks before its client.
	Alone bool
	// Fallback is the address to ask if the sockets of the container cannot be told; empty for nothing.
	Fallback string
}

// Secured reports whether flags choose the security of the connection.
func (o *Options) Secured() bool { return o.TLS || o.ALTS || o.SPIFFE }

// New returns the options without any flag.
func New() Options {
	return Options{
		UserAgent: "grpc_health_probe",
		Budget:    Budget{ConnectTimeout: time.Second, RPCTimeout: time.Second},
		Mode:      ModeReady,
		WantsCert: new(atomic.Bool),
	}
}

// ServerName returns the name that the server's certificate must carry. As in grpc-go (WithAuthority) the name is that
// of the authority, unless -tls-server-name is set.
func (o *Options) ServerName() string {
	if name := cmp.Or(o.TLSServerName, o.SetAuthority); name != "" {
		return address.HostOf(name)
	}
	return o.Address.ServerName
}

// Authority returns the :authority of requests (RFC 9113 section 8.3.1). As in grpc-go the authority is the name of
// -tls-server-name if only -tls-server-name is set, so that a server with routes by name sees the same name in TLS and
// in HTTP/2.
func (o *Options) Authority() string {
	return cmp.Or(o.SetAuthority, o.TLSServerName, o.Address.Authority)
}

// Ended returns the outcome of a probe with these options that ends, with or without an error, before any finding.
func (o *Options) Ended(err error) *outcome.Outcome {
	return &outcome.Outcome{Success: o.Mode.success(), Address: o.Addr, Failures: outcome.FailuresOf(err)}
}
