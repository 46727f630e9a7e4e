package golang

import (
	"go/ast"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// A server of dubbo-go speaks Triple, which is gRPC, unless it is given another protocol alone. Generated code
// registers services with it. The health service comes with a package that an app imports (protocol/triple/health).
var (
	dubboServerPackage = source.Exactly(`dubbo\.apache\.org/dubbo-go/v3(?:/(?:server|config))?`)
	dubboProtocol      = source.Exactly(`dubbo\.apache\.org/dubbo-go/v3/protocol`)
	dubboHealthPackage = source.Exactly(`dubbo\.apache\.org/dubbo-go/v3/(?:imports|protocol/triple/health)`)
	// dubboProvider registers a service with the server that settings describe.
	dubboProvider = source.Exactly(`SetProvider(?:\p{Lu}\w*)?`)
	dubboOther    = source.Exactly(`WithDubbo|WithJSONRPC|WithREST`)
	dubboLoads    = source.Exactly(`WithConfigCenter|Load`)
)

// dubboPort is where a server listens if the app does not say so (common/constant/default.go).
const dubboPort = 50051

// dubboSpoken is a protocol that a server is given, by whether it is Triple.
type dubboSpoken struct {
	*finding.Site
	isTriple bool
}

// visitDubbo adds what a name of another package is to dubbo-go.
func (p *pass) visitDubbo(at ast.Expr, importPath, name string) {
	if !p.file.Imports.AnyMatches(dubboServerPackage) && !dubboProtocol.MatchString(importPath) {
		return
	}
	site, call := p.at(at), p.calls[at]
	switch {
	case dubboProtocol.MatchString(importPath) && (name == "WithTriple" || dubboOther.MatchString(name)):
		p.add(dubboSpoken{site.Quiet(), name == "WithTriple"})
	case dubboServerPackage.MatchString(importPath) && dubboLoads.MatchString(name):
		p.add(finding.Listens(plan.Address{Place: site.Place}, "settings from elsewhere have it"))
	case dubboProvider.MatchString(name) && call != nil && len(call.Args) == 1:
		p.add(ofPackage{Site: site, kind: dubboDescribed})
	case registerHandler.MatchString(name) && call != nil && len(call.Args) > 1:
		p.add(finding.Server{Site: site, Framework: dubboGo})
	}
}

// speaksOther reports whether a package gives its server of dubbo-go another protocol than Triple alone.
func speaksOther(in *analyzer.Package) bool {
	isTriple := func(f finding.Finding) bool { s, ok := f.(dubboSpoken); return ok && s.isTriple }
	return finding.Has[dubboSpoken](in.Findings) && !slices.ContainsFunc(in.Findings, isTriple)
}

// hasDubboHealth reports whether a package, or one that it imports, imports the health service of dubbo-go.
func (w workspace) hasDubboHealth(in *analyzer.Package) bool {
	for dir := range w.reach([]string{in.Path}) {
		if slices.ContainsFunc(w.imports[dir], dubboHealthPackage.MatchString) {
			return true
		}
	}
	return false
}
