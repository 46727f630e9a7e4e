// Package options is what a probe asks, of whom, and in how much time. In goes what flags say; out come [Options],
// which the check and its transports read. It is apart from them since the build of an image checks flags too, and
// needs neither TLS nor a network for that. Begin with [New].
package options

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// Options says what to probe and how. [New] returns those that hold if no flag is set.
type Options struct {
	// Addr is where the server is, as -addr has it, and Address what it means.
	Addr    string
	Address address.Address
	// Services are the names to ask for, at least one; the empty one is the whole server.
	Services []string
	// All asks for every service that the server lists instead.
	All bool
	// Watch follows the status of the one service until the end of the budget.
	Watch bool
	// Mode is what has to be true to pass.
	Mode Mode
	// UserAgent is the value of the user-agent header.
	UserAgent string
	// Budget is how long each step may take, and everything together.
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
	// TLSServerName is the name to send, to verify and to use as authority, if it is not that of the address. As in
	// grpc-go a port may follow it, which only the authority has.
	TLSServerName string
	// SetAuthority is the authority if it is not that of TLSServerName or of the address. A port may follow the name.
	SetAuthority string
	// ALTS and SPIFFE choose credentials other than those of -tls-*.
	ALTS, SPIFFE bool
	// GZIP compresses requests.
	GZIP bool

	// Search says how the server is looked for if Addr is not the user's.
	Search Search

	// WantsCert tells that the server has asked for a client certificate. Copies of the options share it, since they
	// share connections.
	WantsCert *atomic.Bool
}

// Search says how a server is looked for of which no user has given the address. Addr is then what the build of the
// image has found, or empty.
type Search struct {
	// Enabled tells that the sockets of the container are asked if Addr is empty, or no gRPC server answers there.
	Enabled bool
	// Found tells that the build has found Addr, so that no user has said whether there is TLS.
	Found bool
	// TLS tells that the build has found signs of TLS: it is tried first.
	TLS bool
	// Alone tells that the build has found one server in the app, which speaks before its client.
	Alone bool
	// Fallback is asked if the sockets of the container cannot be told; empty for nothing.
	Fallback string
}

// Secured reports whether flags say what secures the connection.
func (o *Options) Secured() bool { return o.TLS || o.ALTS || o.SPIFFE }

// New returns the options that hold if no flag is set.
func New() Options {
	return Options{
		UserAgent: "grpc_health_probe",
		Budget:    Budget{ConnectTimeout: time.Second, RPCTimeout: time.Second},
		Mode:      ModeReady,
		WantsCert: new(atomic.Bool),
	}
}

// ServerName returns the name that the server's certificate must carry. As in grpc-go (WithAuthority) it is that of the
// authority, unless -tls-server-name is set.
func (o *Options) ServerName() string {
	if name := cmp.Or(o.TLSServerName, o.SetAuthority); name != "" {
		return address.HostOf(name)
	}
	return o.Address.ServerName
}

// Authority returns the :authority of requests (RFC 9113 section 8.3.1). As in grpc-go it is the server name of
// -tls-server-name if that alone is set, so that a server that routes by name sees the same name in TLS and in HTTP/2.
func (o *Options) Authority() string {
	return cmp.Or(o.SetAuthority, o.TLSServerName, o.Address.Authority)
}

// Ended returns the outcome of a probe with these options that ends with an error, or without any, before it has found
// out anything.
func (o *Options) Ended(err error) *outcome.Outcome {
	return &outcome.Outcome{Success: o.Mode.success(), Address: o.Addr, Failures: outcome.FailuresOf(err)}
}
