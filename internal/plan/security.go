package plan

// Security is what the sources say of the security of a server's transport: a hint, which decides what a probe tries
// first. The zero value means that nothing is known.
type Security struct {
	Transport Transport
	// Place is where that is written.
	Place Place
}

// Transport is what carries the calls.
type Transport string

// The transports, as they stand in the build plan and in the image's label.
const (
	UnknownTransport Transport = ""
	Plaintext        Transport = "plaintext"
	TLS              Transport = "tls"
)

// String describes the security in a few words.
func (s Security) String() string {
	switch s.Transport {
	case Plaintext:
		return "plaintext"
	case TLS:
		return "TLS"
	}
	return "TLS or plaintext not known"
}

// IsTLS reports whether a probe has to use TLS.
func (s Security) IsTLS() bool { return s.Transport == TLS }
