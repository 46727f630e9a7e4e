// Package finding is what one place in a file proves. Begin with [Finding]: [Server], [Registration], [Implementation],
// [Health], [HealthDisabled], [Listener] and [Security] mean the same in all languages. A language
// may have types of its own, for what means something only together with other files; its PostAnalyze decides which of
// the general ones they are.
//
// A finding is made once, at its place, and never changed: its site alone gets the path when its file is analyzed
// ([Locate]). If it is not known whether it is executed, another one takes its place ([AsUnsure]).
package finding

import (
	"iter"
	"reflect"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Finding is what one place in a file proves. Every type of finding embeds its [Site].
type Finding interface{ site() *Site }

// MayServe reports whether a finding may prove a server. What is stated of a server proves none.
func MayServe(f Finding) bool {
	switch f.(type) {
	case Stated, HealthDisabled, HealthElsewhere, HealthCheck, HealthStatus:
		return false
	}
	return true
}

// Site is the place of a finding, and what stands there.
type Site struct {
	plan.Place
	// excerpt is for the debug log alone: "" for what is not worth a line there.
	excerpt  string
	offset   int // in the source, 0 if only the line is known
	isUnsure bool
}

func (s *Site) site() *Site { return s }

// At returns the site of a part of a text. The path is added when all of the file is analyzed.
func At(t *source.Text, s source.Span) *Site {
	site := AtLine(t.Line(s.From), string(t.Raw[s.From:s.To]))
	site.offset = s.From
	return site
}

// AtLine returns the site of a line, where a text stands.
func AtLine(line int, text string) *Site {
	return &Site{Place: plan.Place{Line: line}, excerpt: source.Excerpt([]byte(text))}
}

// AtPlace returns the site of a place, where a text stands.
func AtPlace(place plan.Place, excerpt string) *Site { return &Site{Place: place, excerpt: excerpt} }

// Quiet returns a site at the same place which the log has no line for, since it has one for the other.
func (s *Site) Quiet() *Site { return &Site{Place: s.Place, offset: s.offset, isUnsure: s.isUnsure} }

// AsUnsure returns a site at the same place that is not sure.
func (s *Site) AsUnsure() *Site {
	unsure := *s
	unsure.isUnsure = true
	return &unsure
}

// IsUnsure reports of a [Health] or a [Listener] that it is not known whether the server has it: an option or the
// environment decides, or it is for some of the package's servers.
func (s *Site) IsUnsure() bool { return s.isUnsure }

// Server is a server that is constructed: it is a server of its own.
type Server struct {
	*Site
	Framework string
	// InMain says that it stands in the main function or the main package of a program.
	InMain bool
	// AutomaticHealth says that the framework registers grpc.health.v1 with it without being asked.
	AutomaticHealth bool
}

// Registration is a service that is registered with a server, which is constructed elsewhere in the project or outside
// of it.
type Registration struct {
	*Site
	Framework       string
	AutomaticHealth bool
}

// Implementation is a class or a type that implements a service. It proves a server only if a framework constructs one
// for every implementation: a library has implementations too.
type Implementation struct {
	*Site
	Framework string
	// Served says that the framework constructs a server for it.
	Served          bool
	AutomaticHealth bool
}

// Health is the registration of grpc.health.v1.
type Health struct {
	*Site
	// Of is the site of the server that it is for, nil if that is any server of the package.
	Of *Site
	// NeedsStatus says that it knows no service, and not the whole server either, until a [HealthStatus] is set.
	NeedsStatus bool
}

// HealthCheck is an implementation of Check of grpc.health.v1 by the app itself.
type HealthCheck struct {
	*Site
	// OfServer says that it may know the whole server. If not, it knows services by their names, and Services are those
	// that are written there.
	OfServer bool
	Services []string
}

// HealthElsewhere is a call of what is not the app's own, which may register grpc.health.v1 with a server, that of the
// site Of, or any server of the package if that is nil.
type HealthElsewhere struct {
	*Site
	Of *Site
}

// HealthClass is a class that implements grpc.health.v1, and HealthMade an object that is made of a class which may be
// one: see [github.com/grpc-cnb/health-probe/detect/analyzer.ServersInFiles].
type HealthClass struct {
	*Site
	Class string
}

// HealthMade is that of [HealthClass].
type HealthMade struct {
	*Site
	Class string
	Of    *Site // as in [Health]
}

// HealthDisabled is what tells a framework not to register grpc.health.v1.
type HealthDisabled struct{ *Site }

// Listener is an address that a server listens on, or one that is not known.
type Listener struct {
	*Site
	Address plan.Address
	// Why says why the address is not known, for who debugs; "" if that is known.
	Why string
	// Of is the site of the server that is given the listener, nil if that is the server of the package. Servers of one
	// package that have listeners of their own are told apart.
	Of *Site
}

// Security is what the code, or a settings file, says of the security of the transport.
type Security struct {
	*Site
	Says plan.Security
	// Of is the site of the server that it is for, nil if that is the server of the package.
	Of *Site
}

// Stated is what is stated of one server: a [Listener] or a [Security].
type Stated interface {
	Finding
	// Server returns the site of the server, nil if that is the server of the package.
	Server() *Site
}

// Server is that of [Stated].
func (l Listener) Server() *Site { return l.Of }

// Server is that of [Stated].
func (s Security) Server() *Site { return s.Of }

// Listens returns a listener on an address that stands in the same file, or on one that is not known, for a reason.
func Listens(a plan.Address, why string) Listener {
	return Listener{Site: &Site{Place: a.Place}, Address: a, Why: why}
}

// SecurityAt returns the security that a line says.
func SecurityAt(line int, says plan.Security) Security {
	return Security{Site: &Site{Place: plan.Place{Line: line}}, Says: says}
}

// Make makes a finding at a site, where the code is that a rule matches. It is nil for code that proves nothing.
type Make func(at *Site, code string) Finding

// Constructs makes a [Server] of a framework.
func Constructs(framework string) Make {
	return func(at *Site, _ string) Finding { return Server{Site: at, Framework: framework} }
}

// Registers makes a [Registration] of a framework.
func Registers(framework string) Make {
	return func(at *Site, _ string) Finding { return Registration{Site: at, Framework: framework} }
}

// Implements makes an [Implementation] of a framework, which constructs no server for it.
func Implements(framework string) Make {
	return func(at *Site, _ string) Finding { return Implementation{Site: at, Framework: framework} }
}

// Serves makes an [Implementation] of a framework, which constructs a server for it.
func Serves(framework string) Make {
	return func(at *Site, _ string) Finding { return Implementation{Site: at, Framework: framework, Served: true} }
}

// WithHealth makes what another one makes, of a framework that registers grpc.health.v1 by itself.
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

// UsesTLS is the [Make] of a [Security] of TLS, Insecure of plaintext, and UsesOther of other credentials.
func UsesTLS(at *Site, _ string) Finding {
	return Security{Site: at, Says: plan.Security{Transport: plan.TLS}}
}

// Insecure is that of [UsesTLS].
func Insecure(at *Site, _ string) Finding {
	return Security{Site: at.Quiet(), Says: plan.Security{Transport: plan.Plaintext}}
}

// UsesOther is that of [UsesTLS].
func UsesOther(at *Site, _ string) Finding { return Security{Site: at} }

// ImplementsHealth is the [Make] of [HealthClass], whose name the code is.
func ImplementsHealth(at *Site, class string) Finding { return HealthClass{Site: at, Class: class} }

// MayRegisterHealth is the [Make] of a [Health] that an option turns on.
func MayRegisterHealth(at *Site, _ string) Finding { return Health{Site: at.AsUnsure()} }

// AsUnsure returns a finding of any type with the site that [Site.AsUnsure] returns.
func AsUnsure(f Finding) Finding { return AsUnsureAt(f, f.site()) }

// AsUnsureAt is [AsUnsure] with another site: that of what decides.
func AsUnsureAt(f Finding, at *Site) Finding {
	unsure := reflect.New(reflect.TypeOf(f)).Elem()
	unsure.Set(reflect.ValueOf(f))
	unsure.FieldByName("Site").Set(reflect.ValueOf(at.AsUnsure()))
	of, _ := reflect.TypeAssert[Finding](unsure)
	return of
}

// Offset returns where a finding begins in its source, 0 if only its line is known.
func Offset(f Finding) int { return f.site().offset }

// Where returns the place of a finding.
func Where(f Finding) plan.Place { return f.site().Place }

// Locate adds the path of their file to findings.
func Locate(findings []Finding, path string) {
	for _, f := range findings {
		f.site().Path = path
	}
}

// Log prints a finding, if it is worth a line.
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

// FrameworkOf returns the framework of a server, a registration or an implementation, "" of anything else.
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

// InMain returns findings among which the servers are in the main function of a program for which a function says so.
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
