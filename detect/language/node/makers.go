package node

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// givesServices reports whether a source gives services to a server of grpc-js.
func givesServices(found []finding.Finding) bool {
	return finding.Has[finding.Registration](found) || finding.Has[finding.Health](found)
}

// isPlain reports whether a project has services that are for servers of grpc-js, and makes none of these or others.
func isPlain(p *project) bool {
	for f := range p.All() {
		switch f.(type) {
		case nestServer, connectHandler, http2Server, importedServer:
			return false
		}
		if of := finding.FrameworkOf(f); of != "" && of != grpcJS {
			return false
		}
	}
	return slices.ContainsFunc(p.Packages, func(in *analyzer.Package) bool { return givesServices(in.Findings) })
}

// maxImported is how many modules that a source imports are looked for in other projects.
const maxImported = 64

// makersFor returns those of the makers that a project imports where it has services, or that are beside such files.
func (m *modules) makersFor(p *project, makers analyzer.Makers[extra]) []*project {
	imported := map[string]bool{}
	for _, f := range p.Files {
		for _, module := range f.Extra.imports {
			file := m.find(f.Path, module)
			imported[file] = true
			if strings.HasPrefix(path.Base(file), "index.") {
				imported[path.Dir(file)] = true
			}
		}
	}
	return makers.In(func(file string) bool { return imported[file] || imported[path.Dir(file)] })
}
