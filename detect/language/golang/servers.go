package golang

import (
	"path"
	"slices"
	"strings"

	listen "github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each package that makes a server.
func postAnalyze(files []analyzer.File[Extra], logf tree.Logf) []plan.Server {
	lookup := lookupIn(files)
	resolvePorts(files, lookup)
	all := analyzer.Projects(files, packageOf)
	w := newWorkspace(all, lookup)
	for _, p := range all {
		w.resolve(p)
	}
	w.shareHealth(all)
	for _, p := range all {
		w.joinPrograms(p)
		w.borrowHealth(p)
	}
	if !slices.ContainsFunc(all, func(p *project) bool { return p.Has(evidenceOfServer...) }) {
		implyServers(all)
	}
	return analyzer.Servers(all, logf)
}

var evidenceOfServer = []analyzer.Kind{analyzer.ServerConstructed, analyzer.ServiceRegistered}

// packageOf returns the package that a file belongs to. Settings in a directory etc belong to the package whose
// directory holds etc. A built program is a package of its own.
func packageOf(file string) string {
	if path.Base(path.Dir(file)) == "etc" && strings.HasSuffix(file, ".yaml") {
		return path.Dir(path.Dir(file))
	}
	if strings.HasSuffix(file, ".go") {
		return path.Dir(file)
	}
	return file
}

// resolve replaces the findings that mean something only together with others of their module by those of the common
// kinds, or leaves them out. The port of an HTTP server is that of gRPC where the module makes no gRPC server of its
// own.
func (w workspace) resolve(p *project) {
	w.leaveOutUnused(p)
	servesPlain := p.Has(evidenceOfServer...)
	w.resolveConnect(p)
	registersKitex := slices.ContainsFunc(p.Packages, func(in *analyzer.Package) bool {
		return slices.ContainsFunc(in.Findings, func(f analyzer.Finding) bool {
			return f.Kind == kitexRegistration && w.isProtobufKitex(f)
		})
	})
	noGRPC := lacksGRPC(p)
	hasOldGoZero := slices.ContainsFunc(p.Files, func(f analyzer.File[Extra]) bool {
		return f.Extra.ModulePath != "" && !f.Extra.GoZeroHealth
	})
	handled, toldApart := listenersOf(p)
	p.Resolve(func(in *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
		switch f.Kind {
		case mainListener:
			f.Kind = analyzer.Listener
			return f, w.importsServer(in)
		case analyzer.ServerConstructed:
			f.AutomaticHealth = f.AutomaticHealth && !(f.Framework == goZero && hasOldGoZero)
		case analyzer.ServiceRegistered:
			return f, f.Framework != grpcGo || w.isRegistration(f, noGRPC)
		case kitexServer:
			isGRPC := w.isProtobufKitex(f)
			f.Kind = analyzer.ServerConstructed
			return f, isGRPC
		case kitexBareServer:
			f.Kind = analyzer.ServerConstructed
			return f, registersKitex
		case kitexRegistration:
			isGRPC := w.isProtobufKitex(f)
			f.Kind = analyzer.ServiceRegistered
			return f, isGRPC
		case addressGiven:
			f.Kind = analyzer.Listener
			return f, f.Port != listen.UnknownPort
		case analyzer.Listener:
			return f, !toldApart[in]
		case grpcListener:
			f.Kind = analyzer.Listener
		case httpListener:
			if !servesPlain || handled[in] {
				f.Kind = analyzer.Listener
			}
		}
		return f, true
	})
}

// listenersOf returns the packages whose server of grpc-go is a handler of net/http and listens itself nowhere, and
// those whose one server of grpc-go has a listener of its own, so that other listeners are not for it.
func listenersOf(p *project) (handled, toldApart map[*analyzer.Package]bool) {
	handled, toldApart = map[*analyzer.Package]bool{}, map[*analyzer.Package]bool{}
	for _, in := range p.Packages {
		servers := 0
		for _, f := range in.Findings {
			if f.Kind == analyzer.ServerConstructed {
				servers++
			}
		}
		handled[in] = in.Has(handledByHTTP, unencryptedHTTP2) && servers > 0 &&
			!in.Has(analyzer.Listener, grpcListener)
		toldApart[in] = in.Has(grpcListener) && servers <= 1
	}
	return handled, toldApart
}

// lacksGRPC reports whether the go.mod of a project, which lists the dependencies of its dependencies too, has no
// grpc-go.
func lacksGRPC(p *project) bool {
	return slices.ContainsFunc(p.Files, func(f analyzer.File[Extra]) bool {
		return f.Extra.ModulePath != "" && !f.Extra.RequiresGRPC
	})
}

// isRegistration reports whether a RegisterXServer is generated from protobuf. A function of the app's own with such a
// name is none, nor is a function of others in a module that does not depend on grpc-go.
func (w workspace) isRegistration(f analyzer.Finding, noGRPC bool) bool {
	if dir, ok := w.lookup(f.ImportPath); ok {
		return w.protos[dir]
	}
	return !noGRPC
}

// isProtobufKitex reports whether a server of Kitex is generated from protobuf and not from Thrift: the directory above
// that of the server then holds code of protoc-gen-go.
func (w workspace) isProtobufKitex(f analyzer.Finding) bool {
	dir, ok := w.lookup(path.Dir(f.ImportPath))
	return ok && w.protos[dir]
}

// joinPrograms takes the programs that are built from sources of the app that serve. They are no services of their own,
// but join the module of their sources: a program may have a health registration from a helper outside of the app.
func (w workspace) joinPrograms(p *project) {
	for _, f := range p.Files {
		if f.Extra.MainPackage == "" {
			continue
		}
		module := w.moduleOf(f.Extra.MainPackage)
		if module == nil || !slices.ContainsFunc(module.Packages, servesFromSource) {
			continue
		}
		program := p.Package(f.Path)
		program.Findings = slices.DeleteFunc(program.Findings, func(f analyzer.Finding) bool {
			return f.Kind == analyzer.ServerConstructed
		})
		if module != p {
			module.Packages = append(module.Packages, program)
		}
	}
}

func servesFromSource(in *analyzer.Package) bool { return !in.Built && in.Has(evidenceOfServer...) }

// borrowHealth gives packages that make a server the health registrations of the helper packages that they import from
// other modules of the app. Helpers of the same module need no such step.
func (w workspace) borrowHealth(p *project) {
	for _, in := range p.Packages {
		if !servesFromSource(in) {
			continue
		}
		for _, importPath := range w.imports[in.Path] {
			dir, ok := w.lookup(importPath)
			module := w.moduleOf(importPath)
			if !ok || module == p {
				continue
			}
			helper := module.Package(dir)
			if helper == nil || helper.Has(analyzer.ServerConstructed) {
				continue
			}
			if f, ok := helper.First(analyzer.HealthRegistered); ok {
				f.Excerpt = "" // the log has a line for it in its own package
				in.Findings = append(in.Findings, f)
			}
		}
	}
}

// implyServers adds a server for each registration of the health service. It is for apps that have no other evidence of
// a server: a framework that this package does not know makes it.
func implyServers(all []*project) {
	for _, p := range all {
		for _, in := range p.Packages {
			for _, f := range slices.Clone(in.Findings) {
				if f.Kind == analyzer.HealthRegistered && strings.HasSuffix(f.Excerpt, "RegisterHealthServer") {
					f.Kind, f.Framework, f.Excerpt = analyzer.ServiceRegistered, grpcGo, ""
					in.Findings = append(in.Findings, f)
				}
			}
		}
	}
}
