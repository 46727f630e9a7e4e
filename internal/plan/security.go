package plan

import "fmt"

// Security is what the sources say of the security of a server's transport. The zero value means that nothing is known.
type Security struct {
	// Transport is what holds if Setting says nothing else.
	Transport Transport
	// Setting is what decides between TLS and plaintext when the app runs: "$TLS_ENABLED", "flag -tls", "the property
	// grpc.server.tls"; "" if nothing does.
	Setting string
	// Certificate is the file with the server's certificate, as the sources write it, and Authority the one with the
	// authorities whose client certificates the server takes; "" if they are not known.
	Certificate, Authority string
	// Place is where that is written.
	Place Place
}

// Transport is what carries the calls.
type Transport string

// The transports, as they stand in the build plan and in the image's label. MutualTLS is TLS that requires a client
// certificate.
const (
	UnknownTransport Transport = ""
	Plaintext        Transport = "plaintext"
	TLS              Transport = "tls"
	MutualTLS        Transport = "mtls"
)

// String describes the security in a few words.
func (s Security) String() string {
	known := map[Transport]string{
		UnknownTransport: "TLS or plaintext not known", Plaintext: "plaintext", TLS: "TLS",
		MutualTLS: "TLS with a client certificate",
	}[s.Transport]
	switch {
	case s.Setting != "" && s.Transport == UnknownTransport:
		known = "TLS or plaintext, depending on " + Printable(s.Setting)
	case s.Setting != "":
		known += fmt.Sprintf(" unless %s says otherwise", Printable(s.Setting))
	}
	return known
}

// IsTLS reports whether a probe has to use TLS.
func (s Security) IsTLS() bool { return s.Transport == TLS || s.Transport == MutualTLS }
