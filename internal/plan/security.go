package plan

// Security is the transport security of a server according to the sources: a hint that decides what a probe tries
// first. The zero value means unknown.
type Security struct {
	Transport Transport
	// Place is the position of the hint in the sources.
	Place Place
}

// Transport is the carrier of the calls.
type Transport string

// The transports in the build plan and in the image's label.
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
