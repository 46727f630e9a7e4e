// Package address says where a server listens: it follows an expression in a source to the address that the app gives
// the server, and says how sure that is.
//
//	text --Read: patterns of the language--> Names --Value: within the file--> a Value
//	a Value --Graph.Resolve: across files--> Address
//
// Begin with [Address]. [Names] are what one file declares; a [Value] is what the file itself says of an expression,
// with the names that other files declare; [Graph] has these, and resolves them. [Names.Conditions] says what decides
// whether code runs.
package address

import "github.com/grpc-cnb/health-probe/internal/plan"

// Address is where a server listens.
type Address = plan.Address

// Host says on which of its addresses a machine listens.
type Host = plan.Host

// Certainty is how sure an address is.
type Certainty = plan.Certainty

// The hosts and the certainties.
const (
	UnknownHost   = plan.UnknownHost
	AllInterfaces = plan.AllInterfaces
	Loopback      = plan.Loopback
	OneInterface  = plan.OneInterface
	UnixSocket    = plan.UnixSocket

	Unknown = plan.Unknown
	Default = plan.Default
	Written = plan.Written
)

// At returns a port that is written at a place, on a host that is not known.
func At(port int, place plan.Place) Address {
	if port <= 0 || port > plan.MaxPort {
		return Address{Place: place}
	}
	return Address{Port: port, Place: place, Certainty: Written}
}
