package golang

import (
	"go/ast"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// A server of dubbo-go speaks Triple, which is gRPC, unless configured for a different protocol alone. Generated
// code registers the services. The health service comes with a package that an app imports (protocol/triple/health).
var (
	dubboServerPackage = source.Exactly(`dubbo\.apache\.org/dubbo-go/v3(?:/(?:server|config))?`)
	dubboProtocol      = source.Exactly(`dubbo\.apache\.org/dubbo-go/v3/protocol`)
	dubboHealthPackage = source.Exactly(`dubbo\.apache\.org/dubbo-go/v3/(?:imports|protocol/triple/health)`)
	// dubboProvider registers a service with the server that settings describe.
	dubboProvider = source.Exactly(`SetProvider(?:\p{Lu}\w*)?`)
)

// dubboPort is the default port of a server (common/constant/default.go).
const dubboPort = 50051

// visitDubbo adds the finding of dubbo-go for a generated name of another package.
func (p *pass) visitDubbo(at ast.Expr, name string) {
	call := p.calls[at]
	switch {
	case call == nil || !p.file.Imports.AnyMatches(dubboServerPackage):
	case dubboProvider.MatchString(name) && len(call.Args) == 1:
		p.add(ofPackage{Site: p.at(at), kind: dubboDescribed})
	case registerHandler.MatchString(name) && len(call.Args) > 1:
		p.add(finding.Server{Site: p.at(at), Framework: dubboGo})
	}
}

// speaksOther reports whether a package gives its server of dubbo-go another protocol than Triple alone.
func speaksOther(in *analyzer.Package) bool {
	return slices.ContainsFunc(in.Findings, isA(dubboOther)) && !slices.ContainsFunc(in.Findings, isA(dubboTriple))
}

// hasDubboHealth reports whether a package, or an imported package, imports the health service of dubbo-go.
func (w workspace) hasDubboHealth(in *analyzer.Package) bool {
	for dir := range w.reach([]string{in.Path}) {
		if slices.ContainsFunc(w.imports[dir], dubboHealthPackage.MatchString) {
			return true
		}
	}
	return false
}
