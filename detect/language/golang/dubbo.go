package golang

import (
	"go/ast"
	"path"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// A server of dubbo-go speaks Triple, which is gRPC, unless it is given another protocol alone. Generated code
// registers services with it. The health service comes with a package that an app imports (protocol/triple/health).
var (
	dubboServerPackage = source.Exactly(`dubbo\.apache\.org/dubbo-go/v3(?:/(?:server|config))?`)
	dubboProtocol      = source.Exactly(`dubbo\.apache\.org/dubbo-go/v3/protocol`)
	dubboHealthPackage = source.Exactly(`dubbo\.apache\.org/dubbo-go/v3/(?:imports|protocol/triple/health)`)
	dubboRegistration  = source.Exactly(`Register\p{Lu}\w*Handler`)
	// dubboProvider registers a service with the server that settings describe, in a file of this name.
	dubboProvider = source.Exactly(`SetProvider(?:\p{Lu}\w*)?`)
	dubboSettings = source.Exactly(`dubbogo\.ya?ml`)
	dubboKey      = source.Exactly(`dubbo\.protocols\.([^.]+)\.name`)
	dubboOther    = source.Exactly(`WithDubbo|WithJSONRPC|WithREST`)
	dubboTLS      = source.Exactly(`WithTLS|WithServerTLSOption`)
	dubboLoads    = source.Exactly(`WithConfigCenter|Load`)
)

// dubboPort is where a server listens if the app does not say so (common/constant/default.go).
const dubboPort = 50051

// The types are what a project says of servers of dubbo-go: a protocol, by whether it is Triple, what may give TLS,
// what loads settings from elsewhere, and the package with the health service.
type (
	dubboSpoken struct {
		*finding.Site
		isTriple bool
	}
	dubboSecured struct{ *finding.Site }
	dubboLoaded  struct{ *finding.Site }
	dubboHealthy struct{ *finding.Site }
)

// visitDubbo adds what a name of another package is to dubbo-go.
func (p *pass) visitDubbo(at ast.Expr, importPath, name string) {
	if !p.file.Imports.AnyMatches(dubboServerPackage) && !dubboProtocol.MatchString(importPath) {
		return
	}
	site, call := p.at(at), p.calls[at]
	if p.file.Imports.AnyMatches(dubboHealthPackage) && !finding.Has[dubboHealthy](p.findings) {
		p.add(dubboHealthy{site.Quiet()})
	}
	switch {
	case dubboProtocol.MatchString(importPath) && (name == "WithTriple" || dubboOther.MatchString(name)):
		p.add(dubboSpoken{site.Quiet(), name == "WithTriple"})
	case dubboServerPackage.MatchString(importPath) && dubboTLS.MatchString(name):
		p.add(dubboSecured{site.Quiet()})
	case dubboServerPackage.MatchString(importPath) && dubboLoads.MatchString(name):
		p.add(dubboLoaded{site.Quiet()})
	case dubboProvider.MatchString(name) && call != nil && len(call.Args) == 1:
		p.add(dubboDescribed{site})
	case dubboRegistration.MatchString(name) && call != nil && len(call.Args) > 1:
		p.add(finding.Server{Site: site, Framework: dubboGo})
	}
}

// dubboDescribed is a service that is registered with the server of the settings, and dubboStated such a server of
// Triple.
type (
	dubboDescribed struct{ *finding.Site }
	dubboStated    struct {
		*finding.Site
		hasTLS bool
	}
)

// dubboFinds returns what the settings say of the server.
func dubboFinds(file string, documents []untrusted.Document) []finding.Finding {
	if !dubboSettings.MatchString(path.Base(file)) {
		return nil
	}
	for _, document := range documents {
		for _, s := range document {
			m := dubboKey.FindStringSubmatch(s.Key)
			if m == nil || s.Value != "tri" {
				continue
			}
			_, hasTLS := firstBelow(document, "dubbo.tls")
			found := []finding.Finding{dubboStated{finding.AtLine(s.Line, "").Quiet(), hasTLS}}
			if port, ok := document.Get("dubbo.protocols." + m[1] + ".port"); ok {
				found = append(found, finding.ListenerAt(addressOf(withDefault(port))))
			}
			return found
		}
	}
	return nil
}

// dubboSays is what the packages of a project that make no server say of its servers of dubbo-go.
type dubboSays struct {
	isHealthy bool
	stated    *dubboStated // what settings say of a server of Triple
	secured   *finding.Site
}

func newDubboSays(p *project) dubboSays {
	var says dubboSays
	for _, in := range p.Packages {
		if !finding.Has[finding.Server](in.Findings) {
			says = says.with(in)
		}
	}
	return says
}

// with adds what a package says.
func (s dubboSays) with(in *analyzer.Package) dubboSays {
	s.isHealthy = s.isHealthy || finding.Has[dubboHealthy](in.Findings)
	if f, ok := finding.First[dubboStated](in.Findings); ok {
		s.stated = &f
	}
	if f, ok := finding.First[dubboSecured](in.Findings); ok {
		s.secured = f.Site
	}
	return s
}

// speaksOther reports whether a package gives its server another protocol than Triple alone.
func speaksOther(in *analyzer.Package) bool {
	speaks := false
	for f := range finding.All[dubboSpoken](in.Findings) {
		if f.isTriple {
			return false
		}
		speaks = true
	}
	return speaks
}

// of returns the server that a service is registered with, with its address if the package states none.
func (s dubboSays) of(in *analyzer.Package, f finding.Server) []finding.Finding {
	if speaksOther(in) {
		return nil
	}
	s = s.with(in)
	f.AutomaticHealth = s.isHealthy
	found := []finding.Finding{f}
	if !finding.Has[listener](in.Findings) && !finding.Has[dubboLoaded](in.Findings) {
		port := address.Value{Address: address.Address{Port: dubboPort, Host: address.AllInterfaces}}
		port.Certainty, port.Place = address.Default, f.Place
		found = append(found, finding.ListenerAt(port))
	}
	if s.secured != nil {
		found = append(found, finding.Security{Site: f.Quiet(), Says: plan.Security{Place: s.secured.Place}})
	}
	return found
}

// described returns the server of the settings, which have its address, with which a service is registered.
func (s dubboSays) described(in *analyzer.Package, f dubboDescribed) []finding.Finding {
	if s = s.with(in); s.stated == nil {
		return nil
	}
	says := plan.Security{Transport: plan.Plaintext}
	if s.stated.hasTLS {
		says = plan.Security{Place: s.stated.Place}
	}
	if s.secured != nil {
		says = plan.Security{Place: s.secured.Place}
	}
	return []finding.Finding{
		finding.Registration{Site: f.Site, Framework: dubboGo, AutomaticHealth: s.isHealthy},
		finding.Security{Site: s.stated.Site, Says: says},
	}
}
