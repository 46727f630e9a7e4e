package outcome

// Protocol is the answer of the peer of a connection, in the words of messages. The zero value means gRPC, or an
// unknown protocol.
type Protocol string

// The protocols.
const (
	// NotAsked: nothing was sent, and nothing has come.
	NotAsked Protocol = "not asked"
	// HTTP2: a SETTINGS frame came first (RFC 9113 section 3.4).
	HTTP2 Protocol = "HTTP/2"
	// Web: HTTP/2, with an answer other than gRPC.
	Web Protocol = "HTTP/2 without gRPC"
	// HTTP1: an answer in HTTP/1.0 or HTTP/1.1.
	HTTP1 Protocol = "HTTP/1.1"
	// TLS: an alert, or an answer that asks for HTTPS.
	TLS Protocol = "TLS"
	// Closed: the connection was closed without an answer, as by a server with TLS asked in plain text.
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

// MayHaveTLS reports whether a server with TLS answers a request in plain text like this.
func (p Protocol) MayHaveTLS() bool { return p == Closed || p == TLS }

// Discovered is a server found among the sockets of the container.
type Discovered struct {
	// Address is the address of the server in the form of -addr.
	Address string
	// TLS means that the server was asked with TLS; no certificate was verified, unless flags say so.
	TLS bool
	// Owner is the evidence that the socket is the container's own; empty for an address found by the build.
	Owner string
	// Passes means that the server is as asked for.
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
