package outcome

// Protocol is what the other end of a connection has answered, in the words of messages. The zero value says that it is
// not known, or that it was gRPC.
type Protocol string

// The protocols.
const (
	// NotAsked: nothing was sent, and nothing has come.
	NotAsked Protocol = "not asked"
	// HTTP2: a SETTINGS frame came first (RFC 9113 section 3.4).
	HTTP2 Protocol = "HTTP/2"
	// Web: HTTP/2, and an answer that is not gRPC's.
	Web Protocol = "HTTP/2 without gRPC"
	// HTTP1: an answer in HTTP/1.0 or HTTP/1.1.
	HTTP1 Protocol = "HTTP/1.1"
	// TLS: an alert, or an answer that asks for HTTPS.
	TLS Protocol = "TLS"
	// Closed: the connection was closed without an answer, as servers with TLS do that are asked in plain text.
	Closed Protocol = "closed the connection"
	// OtherProtocol: other bytes.
	OtherProtocol Protocol = "another protocol"
	// Silent: nothing came.
	Silent Protocol = "silent"
	// Refused: no connection was made.
	Refused Protocol = "refused the connection"
	// Forbidden: this user may not connect.
	Forbidden Protocol = "closed to the probe's user"
	// Bridge: the bridge of this buildpack, which is no server of an app.
	Bridge Protocol = "the bridge"
)

// MayHaveTLS reports whether a server with TLS answers a request in plain text so.
func (p Protocol) MayHaveTLS() bool { return p == Closed || p == TLS }

// Discovered is a server that was found among the sockets of the container.
type Discovered struct {
	// Address is the server's, as -addr takes it.
	Address string
	// TLS tells that it was asked with TLS; no certificate was verified, unless flags say so.
	TLS bool
	// Owner says how the socket is known to be the container's own; empty for an address that the build found.
	Owner string
	// Passes tells that the server is as it was asked to be.
	Passes bool
}

// JSON returns the server as an object.
func (d *Discovered) JSON() []byte {
	var o object
	o.string("address", d.Address)
	transport := "plaintext"
	if d.TLS {
		transport = "tls"
	}
	o.string("transport", transport)
	o.string("own", d.Owner)
	return o.end()
}
