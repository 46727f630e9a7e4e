package plan

import (
	"cmp"
	"fmt"
)

// Health says whether a server answers grpc.health.v1.Health/Check. The zero value means that it is not known.
type Health string

// The values of Health, as they stand in the build plan and in the image's label.
const (
	HealthRegistered Health = "registered" // the app registers the service
	HealthAutomatic  Health = "automatic"  // the app's framework registers it without being asked
	HealthMissing    Health = "missing"    // nobody registers it: every probe would exit 3
)

// Server is one gRPC server that an app holds.
type Server struct {
	// Language is the name of the language in the build plan, as in "csharp". Title is its name for users, as in "C#".
	Language, Title string
	// Framework is the name of the framework that makes the server, as in "grpc-go".
	Framework string
	// Evidence is the line that makes the server.
	Evidence Place
	// Built says that the server was found in a built program and not in sources.
	Built bool
	// Health says whether the standard health service is registered, and HealthEvidence where.
	Health         Health
	HealthEvidence Place
	// Service is what to ask for if the app sets no status of the whole server, that of the service "": a service, or
	// several with commas between them. Liveness is the one whose status says whether the server is alive, "" for none.
	Service, Liveness string
	// IsServiceUnknown says that the app sets statuses of other services than the whole server, or has to set some, and
	// that their names are not known.
	IsServiceUnknown bool
	// StatusName is the code that names such a service, as in "name", and StatusEvidence where that sets the status.
	// Both are zero if no source is known to set one.
	StatusName     string
	StatusEvidence Place
	// HealthAdvice is what to write into the server if the health service is missing, fit to be pasted; "" if
	// nothing is known to help.
	HealthAdvice string
	// SpeaksFirst says that the server sends something before its client does. A server that is not known to do so may
	// wait.
	SpeaksFirst bool
	// Address is where the server listens, and Security what carries its calls.
	Address  Address
	Security Security
	// Strength is how strong the evidence is. Like what follows it is not in the plan, whose first server leads.
	Strength Strength
	// Programs are the directories of the main packages that build it, the likeliest first, as far as they are known.
	Programs []string
	// BuiltBy is what says that the build builds this server, as in "$BP_GO_TARGETS"; "" if nothing does.
	BuiltBy string
	// ShownBy is the document that starts this server before others, as in "README.md"; "" if none does.
	ShownBy string
	// Aside is the directory of examples, tools, tests or clients that it lies in, "" for the app proper. IsExample
	// says that it lies in examples, tutorials, benchmarks or a test server.
	Aside     string
	IsExample bool
	// IsVariant says that it lies in a folder that is named for its language, as one of several that are the same in
	// other languages: node/ of a blockchain in Rust is no such folder.
	IsVariant bool
	// TestOnly says that the build declares it for tests only.
	TestOnly bool
}

// Strength is how strong the evidence of a server is; a greater one is stronger.
type Strength int

// The strengths of evidence.
const (
	Implementation   Strength = iota // a service is implemented, and a framework makes the server
	Registration                     // a service is registered with a server that is made elsewhere
	Construction                     // a server is constructed
	MainConstruction                 // a server is constructed in the main function, or the main package, of a program
)

// HealthWarning says what a missing health service means and what to write to have it. It is "" if the service is
// not missing or no advice is known.
func (s Server) HealthWarning() string {
	if s.Health != HealthMissing || s.HealthAdvice == "" {
		return ""
	}
	return fmt.Sprintf("probes of the server at %s will exit 3 until it registers grpc.health.v1.Health: %s",
		s.Evidence, s.HealthAdvice)
}

// String describes the server in one line for users.
func (s Server) String() string {
	server := fmt.Sprintf("%s, %s (%s); health service ", cmp.Or(s.Title, s.Language), s.Framework, s.Evidence)
	switch s.Health {
	case HealthRegistered:
		server += "registered" + s.services() + fmt.Sprintf(" (%s)", s.HealthEvidence)
	case HealthAutomatic:
		server += "registered by " + s.Framework
		if s.Service != "" {
			server += s.services() + " only"
		}
	case HealthMissing:
		server += "not registered"
	default:
		server += "not known" + s.at(s.HealthEvidence)
	}
	switch {
	case s.StatusName != "":
		server += fmt.Sprintf(", for the service named by %s, %s", s.StatusName, s.StatusEvidence)
	case s.IsServiceUnknown:
		server += ", for which services is not known"
	}
	if s.Address.IsKnown() || s.Address.Host == UnixSocket {
		server += "; " + s.Address.String() + s.at(s.Address.Place)
	} else {
		server += "; port not known"
	}
	server += "; " + s.Security.String() + s.at(s.Security.Place)
	return server
}

// services says which services probes ask for, in place of the whole server.
func (s Server) services() string {
	switch {
	case s.Service == "":
		return ""
	case s.Liveness == "" || s.Liveness == s.Service:
		return " for " + s.Service
	}
	return " for " + s.Service + " and " + s.Liveness
}

// at says where something is written, unless the server's evidence says so already.
func (s Server) at(p Place) string {
	if p == (Place{}) || p.Line == 0 && p == s.Evidence {
		return ""
	}
	return ", " + p.String()
}
