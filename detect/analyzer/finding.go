package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Kind is what a finding says. A language may have kinds of its own, for findings that mean something only together
// with others: its PostAnalyze replaces them by these.
type Kind string

const (
	// ServerConstructed is a server that is made here: it is a service of its own.
	ServerConstructed Kind = "server constructed"
	// ServiceRegistered is a service that is registered with a server here: the server is constructed elsewhere in the
	// project, or outside of it.
	ServiceRegistered Kind = "service registered"
	// ServiceImplemented is a class or a type that implements a service. It proves a server only where a framework
	// constructs one for every implementation: a library has implementations too.
	ServiceImplemented Kind = "service implemented"
	// HealthRegistered is the registration of grpc.health.v1.
	HealthRegistered Kind = "health registered"
	// HealthDisabled is what tells a framework not to register grpc.health.v1.
	HealthDisabled Kind = "health disabled"
	// Listener is a port that a server listens on, or one that is not known: address.UnknownPort.
	Listener Kind = "listener"
)

// Finding is what one place in a file proves.
type Finding struct {
	Kind Kind
	// Place is where it is. A language states the line, and the path is added for it.
	plan.Place
	// Excerpt is what stands there, for the debug log; "" where it is not worth a line there.
	Excerpt string
	// Framework is the framework of a ServerConstructed, a ServiceRegistered or a ServiceImplemented.
	Framework string
	// InMain says of a ServerConstructed that it stands in the main function or the main package of a program.
	InMain bool
	// FrameworkServes says of a ServiceImplemented that the framework constructs a server for it.
	FrameworkServes bool
	// AutomaticHealth says that the framework registers grpc.health.v1 with that server without being asked.
	AutomaticHealth bool
	// Port is the port of a Listener.
	Port int
	// ImportPath is the package or the name that the finding refers to, for languages that need it.
	ImportPath string
}

// At returns the finding with another line and excerpt.
func (f Finding) At(line int, excerpt string) Finding {
	f.Line, f.Excerpt = line, excerpt
	return f
}

// NewListener returns the finding of a server that listens on a port which an expression of a text states. Its place is
// where the number of the port is written.
func NewListener(t *source.Text, port address.Port) Finding {
	return Finding{Kind: Listener, Port: port.Number}.At(t.Line(port.At), "")
}

// Has reports whether one of the findings is of the kind.
func Has(findings []Finding, kind Kind) bool {
	for _, f := range findings {
		if f.Kind == kind {
			return true
		}
	}
	return false
}

// typed returns the finding as it is today: this file is for the languages that were not changed yet.
func (f Finding) typed() []finding.Finding {
	at := finding.AtPlace(f.Place, f.Excerpt)
	switch f.Kind {
	case ServerConstructed:
		return []finding.Finding{finding.Server{
			Site: at, Framework: f.Framework, InMain: f.InMain, AutomaticHealth: f.AutomaticHealth,
		}}
	case ServiceRegistered:
		return []finding.Finding{finding.Registration{
			Site: at, Framework: f.Framework, AutomaticHealth: f.AutomaticHealth,
		}}
	case ServiceImplemented:
		return []finding.Finding{finding.Implementation{
			Site: at, Framework: f.Framework, Served: f.FrameworkServes, AutomaticHealth: f.AutomaticHealth,
		}}
	case HealthRegistered:
		return []finding.Finding{finding.Health{Site: at}}
	case HealthDisabled:
		return []finding.Finding{finding.HealthDisabled{Site: at}}
	case Listener:
		return []finding.Finding{finding.ListenerAt(address.Value{Address: address.At(f.Port, f.Place)})}
	}
	return []finding.Finding{finding.Other{Site: at}}
}
