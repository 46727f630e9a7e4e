// Package finding has the types of findings: each is the proof of one place in a file. Begin with [Finding]: [Server],
// [Registration], [Implementation], [Health], [HealthDisabled], [Listener] and [Security] mean the same in all
// languages. A language may have types of its own for findings that need other files to mean something; PostAnalyze of
// the language turns such findings into the general types.
//
// A finding is made once, at its place, and never changed: only the site gets the path when the file is analyzed
// ([Locate]). If execution of the code is uncertain, an unsure finding replaces the finding ([AsUnsure]).
package finding

import (
	"iter"
	"reflect"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Finding is the proof of one place in a file. Every type of finding embeds a [Site].
type Finding interface{ site() *Site }

// MayServe reports whether a finding may prove a server. A statement about a server proves none.
func MayServe(f Finding) bool {
	switch f.(type) {
	case Stated, HealthDisabled, HealthElsewhere, HealthCheck, HealthStatus:
		return false
	}
	return true
}

// Site is the place of a finding, and the code there.
type Site struct {
	plan.Place
	// excerpt is for the debug log alone: "" for code not worth a line in the log.
	excerpt  string
	offset   int // in the source, 0 if only the line is known
	isUnsure bool
}

func (s *Site) site() *Site { return s }

// At returns the site of a part of a text. [Locate] adds the path when all of the file is analyzed.
func At(t *source.Text, s source.Span) *Site {
	site := AtLine(t.Line(s.From), string(t.Raw[s.From:s.To]))
	site.offset = s.From
	return site
}

// AtLine returns the site of a text on a line.
func AtLine(line int, text string) *Site {
	return &Site{Place: plan.Place{Line: line}, excerpt: source.Excerpt([]byte(text))}
}

// AtPlace returns the site of a text at a place.
func AtPlace(place plan.Place, excerpt string) *Site { return &Site{Place: place, excerpt: excerpt} }

// Quiet returns a site at the same place without a line in the log, since the log has a line for s.
func (s *Site) Quiet() *Site { return &Site{Place: s.Place, offset: s.offset, isUnsure: s.isUnsure} }

// AsUnsure returns an unsure site at the same place.
func (s *Site) AsUnsure() *Site {
	unsure := *s
	unsure.isUnsure = true
	return &unsure
}

// IsUnsure reports whether a server may lack the [Health] or the [Listener] at the site: an option or the environment
// decides, or the finding is for some of the package's servers.
func (s *Site) IsUnsure() bool { return s.isUnsure }

// Server is the construction of a server, distinct from all others.
type Server struct {
	*Site
	Framework string
	// InMain marks a construction in the main function or the main package of a program.
	InMain bool
	// AutomaticHealth means that the framework registers grpc.health.v1 with the server by itself.
	AutomaticHealth bool
}

// Registration is the registration of a service with a server that is constructed elsewhere in the project or outside.
type Registration struct {
	*Site
	Framework       string
	AutomaticHealth bool
}

// Implementation is a class or a type that implements a service. An implementation proves a server only if a framework
// constructs a server for every implementation: a library has implementations too.
type Implementation struct {
	*Site
	Framework string
	// Served means that the framework constructs a server for the implementation.
	Served          bool
	AutomaticHealth bool
}

// Health is the registration of grpc.health.v1.
type Health struct {
	*Site
	// Of is the site of the server, nil for any server of the package.
	Of *Site
	// NeedsStatus means that the health service knows no service, and not the whole server either, until a
	// [HealthStatus] is set.
	NeedsStatus bool
}

// HealthCheck is an implementation of Check of grpc.health.v1 by the app itself.
type HealthCheck struct {
	*Site
	// OfServer means that Check may know the whole server. Otherwise Check knows services by name, and Services are the
	// names written there.
	OfServer bool
	Services []string
}

// HealthElsewhere is a call of code outside the app that may register grpc.health.v1 with a server: the server of the
// site Of, or any server of the package for nil.
type HealthElsewhere struct {
	*Site
	Of *Site
}

// HealthClass is a class that implements grpc.health.v1. HealthMade is an object of a class that may be a HealthClass:
// see [github.com/grpc-cnb/health-probe/detect/analyzer.ServersInFiles].
type HealthClass struct {
	*Site
	Class string
}

// HealthMade is an object of a class: see [HealthClass].
type HealthMade struct {
	*Site
	Class string
	Of    *Site // as in [Health]
}

// HealthDisabled is code that tells a framework not to register grpc.health.v1.
type HealthDisabled struct{ *Site }

// Listener is an address that a server listens on, known or not.
type Listener struct {
	*Site
	Address plan.Address
	// Why is the reason for an unknown address, for debugging; "" for a known address.
	Why string
	// Of is the site of the server of the listener, nil for the server of the package. Servers of one package with
	// separate listeners are told apart.
	Of *Site
}

// Security is a statement of the code, or of a settings file, on the security of the transport.
type Security struct {
	*Site
	Says plan.Security
	// Of is the site of the server, nil for the server of the package.
	Of *Site
}

// Stated is a statement about one server: a [Listener] or a [Security].
type Stated interface {
	Finding
	// Server returns the site of the server, nil for the server of the package.
	Server() *Site
}

// Server implements [Stated].
func (l Listener) Server() *Site { return l.Of }

// Server implements [Stated].
func (s Security) Server() *Site { return s.Of }

// Listens returns a listener on an address in the same file, or on an unknown address with the reason why.
func Listens(a plan.Address, why string) Listener {
	return Listener{Site: &Site{Place: a.Place}, Address: a, Why: why}
}

// SecurityAt returns the security stated on a line.
func SecurityAt(line int, says plan.Security) Security {
	return Security{Site: &Site{Place: plan.Place{Line: line}}, Says: says}
}

// Make makes a finding at a site, from the code that a rule matches. The result is nil for code that proves nothing.
type Make func(at *Site, code string) Finding

// Constructs makes a [Server] of a framework.
func Constructs(framework string) Make {
	return func(at *Site, _ string) Finding { return Server{Site: at, Framework: framework} }
}

// Registers makes a [Registration] of a framework.
func Registers(framework string) Make {
	return func(at *Site, _ string) Finding { return Registration{Site: at, Framework: framework} }
}

// Implements makes an [Implementation] of a framework that constructs no server for an implementation.
func Implements(framework string) Make {
	return func(at *Site, _ string) Finding { return Implementation{Site: at, Framework: framework} }
}

// Serves makes an [Implementation] of a framework that constructs a server for an implementation.
func Serves(framework string) Make {
	return func(at *Site, _ string) Finding { return Implementation{Site: at, Framework: framework, Served: true} }
}

// WithHealth makes the findings of proves, for a framework that registers grpc.health.v1 by itself.
func WithHealth(proves Make) Make {
	return func(at *Site, code string) Finding {
		switch f := proves(at, code).(type) {
		case Server:
			f.AutomaticHealth = true
			return f
		case Registration:
			f.AutomaticHealth = true
			return f
		case Implementation:
			f.AutomaticHealth = true
			return f
		default:
			return f
		}
	}
}

// RegistersHealth is the [Make] of [Health].
func RegistersHealth(at *Site, _ string) Finding { return Health{Site: at} }

// RegistersEmptyHealth is the [Make] of a [Health] that answers NOT_FOUND until the app sets a status.
func RegistersEmptyHealth(at *Site, _ string) Finding { return Health{Site: at, NeedsStatus: true} }

// UsesTLS is the [Make] of a [Security] with TLS.
func UsesTLS(at *Site, _ string) Finding {
	return Security{Site: at, Says: plan.Security{Transport: plan.TLS}}
}

// Insecure is the [Make] of a [Security] with plaintext.
func Insecure(at *Site, _ string) Finding {
	return Security{Site: at.Quiet(), Says: plan.Security{Transport: plan.Plaintext}}
}

// UsesOther is the [Make] of a [Security] with other credentials.
func UsesOther(at *Site, _ string) Finding { return Security{Site: at} }

// ImplementsHealth is the [Make] of a [HealthClass]. The code is the name of the class.
func ImplementsHealth(at *Site, class string) Finding { return HealthClass{Site: at, Class: class} }

// MayRegisterHealth is the [Make] of a [Health] that an option turns on.
func MayRegisterHealth(at *Site, _ string) Finding { return Health{Site: at.AsUnsure()} }

// AsUnsure returns a finding of any type with the site of [Site.AsUnsure].
func AsUnsure(f Finding) Finding { return AsUnsureAt(f, f.site()) }

// AsUnsureAt is [AsUnsure] with another site: the place of the decision.
func AsUnsureAt(f Finding, at *Site) Finding {
	unsure := reflect.New(reflect.TypeOf(f)).Elem()
	unsure.Set(reflect.ValueOf(f))
	unsure.FieldByName("Site").Set(reflect.ValueOf(at.AsUnsure()))
	of, _ := reflect.TypeAssert[Finding](unsure)
	return of
}

// Offset returns the offset of a finding in the source, 0 if only the line is known.
func Offset(f Finding) int { return f.site().offset }

// Where returns the place of a finding.
func Where(f Finding) plan.Place { return f.site().Place }

// Locate adds the path of a file to the findings of the file.
func Locate(findings []Finding, path string) {
	for _, f := range findings {
		f.site().Path = path
	}
}

// Log prints a finding worth a line.
func Log(f Finding, logf tree.Logf) {
	if s := f.site(); s.excerpt != "" {
		logf("evidence: %s: %s", s.Place, plan.Printable(s.excerpt))
	}
}

// All yields the findings of a type.
func All[F Finding](findings []Finding) iter.Seq[F] {
	return func(yield func(F) bool) {
		for _, f := range findings {
			if of, ok := f.(F); ok && !yield(of) {
				return
			}
		}
	}
}

// First returns the first finding of a type.
func First[F Finding](findings []Finding) (F, bool) {
	for f := range All[F](findings) {
		return f, true
	}
	var none F
	return none, false
}

// Has reports whether there is a finding of a type.
func Has[F Finding](findings []Finding) bool {
	_, ok := First[F](findings)
	return ok
}

// Is reports whether a finding is of a type.
func Is[F Finding](f Finding) bool {
	_, ok := f.(F)
	return ok
}

// FrameworkOf returns the framework of a server, a registration or an implementation, "" for any other finding.
func FrameworkOf(f Finding) string {
	switch f := f.(type) {
	case Server:
		return f.Framework
	case Registration:
		return f.Framework
	case Implementation:
		return f.Framework
	}
	return ""
}

// InMain returns findings with InMain set on each server for which isMain returns true.
func InMain(findings []Finding, isMain func(s Server) bool) []Finding {
	var all []Finding
	for _, f := range findings {
		if s, ok := f.(Server); ok {
			s.InMain = isMain(s)
			f = s
		}
		all = append(all, f)
	}
	return all
}
