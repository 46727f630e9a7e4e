package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	// Language is the name of the language in the build plan, as in "csharp". Title is its name for people, as in "C#".
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
	// HealthAdvice is what to write into the server where the health service is missing, fit to be pasted; "" where
	// nothing is known to help.
	HealthAdvice string
	// Port is the TCP port that the sources state plainly, or 0, and PortEvidence is where.
	Port         int
	PortEvidence Place
	// Others is how many more servers the app holds.
	Others int
	// Strength is how strong the evidence is. It is not in the plan: there the strongest evidence leads.
	Strength Strength
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

// The keys of the plan entry's metadata.
const (
	keyLanguage       = "language"
	keyTitle          = "language_title"
	keyFramework      = "framework"
	keyEvidence       = "evidence"
	keyHealth         = "health"
	keyHealthEvidence = "health_evidence"
	keyHealthAdvice   = "health_advice"
	keyPort           = "port"
	keyPortEvidence   = "port_evidence"
	keyOthers         = "other_servers"
)

// maxOthers is more servers than the files that detection reads.
const maxOthers = 1_000_000

// Metadata returns the server as metadata of the plan entry: TOML strings, and integers for the numbers. What is not
// known has no key.
func (s Server) Metadata() map[string]any {
	metadata := map[string]any{}
	for key, text := range map[string]string{
		keyLanguage: s.Language, keyTitle: s.Title, keyFramework: s.Framework, keyEvidence: s.Evidence.String(),
		keyHealth: string(s.Health), keyHealthEvidence: s.HealthEvidence.String(), keyHealthAdvice: s.HealthAdvice,
		keyPortEvidence: s.PortEvidence.String(),
	} {
		if text != "" {
			metadata[key] = text
		}
	}
	for key, number := range map[string]int{keyPort: s.Port, keyOthers: s.Others} {
		if number != 0 {
			metadata[key] = int64(number)
		}
	}
	return metadata
}

// ServerFromMetadata is the inverse of Server.Metadata. Any buildpack may have written the entry: a value of the
// wrong type or range counts as not known, and every text that comes back is fit to print.
func ServerFromMetadata(metadata map[string]any) Server {
	text := func(key string) string {
		s, _ := metadata[key].(string)
		return s
	}
	s := Server{
		Language:       Printable(text(keyLanguage)),
		Title:          Printable(text(keyTitle)),
		Framework:      Printable(text(keyFramework)),
		Evidence:       parsePlace(text(keyEvidence)),
		HealthEvidence: parsePlace(text(keyHealthEvidence)),
		HealthAdvice:   Printable(text(keyHealthAdvice)),
		PortEvidence:   parsePlace(text(keyPortEvidence)),
	}
	s.Built = s.Evidence.Path != "" && s.Evidence.Line == 0
	switch h := Health(text(keyHealth)); h {
	case HealthRegistered, HealthAutomatic, HealthMissing:
		s.Health = h
	}
	if port, ok := metadata[keyPort].(int64); ok && port > 0 && port <= 65535 {
		s.Port = int(port)
	}
	if others, ok := metadata[keyOthers].(int64); ok && others > 0 && others <= maxOthers {
		s.Others = int(others)
	}
	return s
}

// HealthWarning says what a missing health service means and what to write to have it. It is "" where the service is
// not missing or no advice is known.
func (s Server) HealthWarning() string {
	if s.Health != HealthMissing || s.HealthAdvice == "" {
		return ""
	}
	if s.Others > 0 {
		return fmt.Sprintf("probes of the server at %s will exit 3 until it registers grpc.health.v1.Health: %s",
			s.Evidence, s.HealthAdvice)
	}
	return "every probe will exit 3 until the app registers grpc.health.v1.Health: " + s.HealthAdvice
}

// String describes the server in one line for people.
func (s Server) String() string {
	server := fmt.Sprintf("%s, %s (%s); health service ", cmp.Or(s.Title, s.Language), s.Framework, s.Evidence)
	switch s.Health {
	case HealthRegistered:
		server += fmt.Sprintf("registered (%s)", s.HealthEvidence)
	case HealthAutomatic:
		server += "registered by " + s.Framework
	case HealthMissing:
		server += "not registered"
	default:
		server += "not known"
	}
	switch {
	case s.Port == 0:
		return server
	case s.PortEvidence == Place{}, s.PortEvidence.Line == 0 && s.PortEvidence == s.Evidence:
		return fmt.Sprintf("%s; port %d", server, s.Port)
	}
	return fmt.Sprintf("%s; port %d, %s", server, s.Port, s.PortEvidence)
}

// Sort puts the leading server first: servers in sources before those in built programs, those in folders of examples
// last of either, stronger evidence before weaker, and otherwise by path and line. Of servers that are constructed
// outside of a program's main, those with a health service go before those without.
func Sort(servers []Server) {
	slices.SortStableFunc(servers, func(a, b Server) int {
		return cmp.Or(compareBool(a.Built, b.Built), compareBool(a.isExample(), b.isExample()),
			cmp.Compare(b.Strength, a.Strength),
			compareBool(a.isDoubtful(), b.isDoubtful()),
			cmp.Compare(a.Evidence.Path, b.Evidence.Path), cmp.Compare(a.Evidence.Line, b.Evidence.Line))
	})
}

// isDoubtful reports whether a server is constructed outside of the main package of a program, and has no health
// service. Of two servers that are constructed in libraries, that is more often the one for tools and proxies.
func (s Server) isDoubtful() bool {
	return s.Strength == Construction && s.Health == HealthMissing
}

// isExample reports whether a server lies in a folder of examples. A folder named "example" is none: Java's packages
// often lie in com/example.
func (s Server) isExample() bool {
	path := "/" + s.Evidence.Path
	return strings.Contains(path, "/examples/") || strings.Contains(path, "/samples/")
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
