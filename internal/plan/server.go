package plan

import (
	"cmp"
	"fmt"
)

// Health says whether a server answers grpc.health.v1.Health/Check. The zero value means unknown.
type Health string

// The values of Health in the build plan and in the image's label.
const (
	HealthRegistered Health = "registered" // the app registers the service
	HealthAutomatic  Health = "automatic"  // the app's framework registers the service unasked
	HealthMissing    Health = "missing"    // nobody registers the service: every probe would exit 3
)

// Server is a gRPC server in an app.
type Server struct {
	// Language is the name of the language in the build plan, as in "csharp". Title is the name for users, as in "C#".
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
	// Service is the service to ask for if the app sets no status of the whole server, the service "". Commas separate
	// several services. Liveness is the service whose status says whether the server is alive, "" for none.
	Service, Liveness string
	// IsServiceUnknown says that the app sets, or has to set, statuses of services besides the whole server, under
	// unknown names.
	IsServiceUnknown bool
	// StatusName is the code for the name of an unknown service, as in "name". StatusEvidence is the place that sets
	// the status. Both are zero if no source is known to set a status.
	StatusName     string
	StatusEvidence Place
	// HealthAdvice is the code to paste into a server without the health service; "" without known advice.
	HealthAdvice string
	// SpeaksFirst says that the server sends something before its client does. False means unknown: the server may
	// wait.
	SpeaksFirst bool
	// Address is where the server listens, and Security what carries the calls.
	Address  Address
	Security Security
	// Strength is the strength of the evidence. The plan holds neither Strength nor the fields below: the first server
	// in the plan leads.
	Strength Strength
	// Programs are the directories of the main packages known to build the server, the likeliest first.
	Programs []string
	// BuiltBy names the evidence that the build builds this server, as in "$BP_GO_TARGETS"; "" for none.
	BuiltBy string
	// ShownBy is the document that starts this server before others, as in "README.md"; "" for none.
	ShownBy string
	// Aside is the directory of examples, tools, tests or clients around the server, "" for the app proper. IsExample
	// says that the server lies in examples, tutorials, benchmarks or a test server.
	Aside     string
	IsExample bool
	// IsVariant says that the server lies in a folder named for its language, beside the same server in further
	// languages: node/ of a blockchain in Rust is no such folder.
	IsVariant bool
	// TestOnly says that the build declares the server for tests only.
	TestOnly bool
}

// Strength is the strength of a server's evidence; a greater value is stronger.
type Strength int

// The strengths of evidence.
const (
	Implementation   Strength = iota // a service is implemented, and a framework makes the server
	Registration                     // a service is registered with a server from elsewhere
	Construction                     // a server is constructed
	MainConstruction                 // a server is constructed in the main function, or the main package, of a program
)

// HealthWarning returns the effect of a missing health service and the code to write. The text is "" if the service is
// not missing, or without known advice.
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

// services returns " for" and the services to ask for, or "" for the whole server.
func (s Server) services() string {
	switch {
	case s.Service == "":
		return ""
	case s.Liveness == "" || s.Liveness == s.Service:
		return " for " + s.Service
	}
	return " for " + s.Service + " and " + s.Liveness
}

// at returns a comma and a place; "" for no place, and for a whole file that is the server's evidence.
func (s Server) at(p Place) string {
	if p == (Place{}) || p.Line == 0 && p == s.Evidence {
		return ""
	}
	return ", " + p.String()
}
