// Package address says where a server listens: it follows an expression in a source to the address that the app gives
// the server, and says how sure that is.
//
//	text --Read: patterns of the language--> Names --Value: within the file--> a Value
//	a Value --Graph.Resolve: across files--> Address
//
// Begin with [Address]. [Names] are what one file declares; a [Value] is what the file itself says of an expression,
// with the names that other files declare; [Graph] has these, and resolves them.
package address

import "github.com/grpc-cnb/health-probe/internal/plan"

// Address is where a server listens. The zero value is an address of which nothing is known. What the sources say of
// the security of the transport belongs here too, beside the port that it is for.
type Address struct {
	Host Host
	// Port is a TCP port, or 0.
	Port int
	// Place is where the port is written. A file states the line, and the path is added for it.
	Place plan.Place
	// Certainty says whether to believe it.
	Certainty Certainty
}

// Host says on which of its addresses a machine listens.
type Host int

// The hosts.
const (
	UnknownHost   Host = iota
	AllInterfaces      // 0.0.0.0, [::], *
	Loopback           // localhost, 127.0.0.1, [::1]
	OneInterface       // an address of its own, or a name: a probe in the container may not reach it by localhost
	UnixSocket         // a Unix domain socket, which has no port
)

// Certainty is how sure an address is.
type Certainty int

// The certainties.
const (
	Unknown Certainty = iota
	Default           // an environment variable, a flag, an option or a setting may replace it
	Written           // it is written there
)

// Local returns the port by which a probe beside the server reaches it, or 0.
func (a Address) Local() int {
	if a.Certainty == Unknown || a.Host == OneInterface || a.Host == UnixSocket {
		return 0
	}
	return a.Port
}

// At returns a port that is written at a place, on a host that is not known.
func At(port int, place plan.Place) Address {
	if port <= 0 || port > maxPort {
		return Address{Place: place}
	}
	return Address{Port: port, Place: place, Certainty: Written}
}

const maxPort = 65535
