package node

import (
	"encoding/json"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// library is what a package.json says of a package that others import.
type library struct {
	// isExported says that it names modules for others, and no program: neither a script that starts one, nor bin.
	isExported bool
	// uses are the packages that it depends on.
	uses []string
}

// libraryOf reads the fields of a package.json.
func libraryOf(fields map[string]json.RawMessage) library {
	var l library
	for _, field := range []string{"main", "exports", "module"} {
		l.isExported = l.isExported || fields[field] != nil
	}
	var scripts, dependencies map[string]any
	_ = json.Unmarshal(fields["scripts"], &scripts) // fields of other types say nothing
	_ = json.Unmarshal(fields["dependencies"], &dependencies)
	for _, name := range []string{"start", "start:prod", "serve", "dev"} {
		l.isExported = l.isExported && scripts[name] == nil
	}
	l.isExported = l.isExported && fields["bin"] == nil
	for name := range dependencies {
		l.uses = append(l.uses, name)
	}
	slices.Sort(l.uses)
	return l
}

// runs is what a module does when it is loaded, at the beginning of a line: a call, or a condition of one.
var runs = lazyregexp.New(`(?m)^(?:(?:await|void|new)\s+)?[A-Za-z_$][\w$.]*\s*\(|^[;!]?\(`)

// dropLibraries leaves out what packages prove that others import, if no package of the app does, nothing starts them,
// and none of their modules calls anything when it is loaded: nobody starts the server that they make.
func dropLibraries(all []*project) {
	used, isStarted := map[string]bool{}, false
	for _, p := range all {
		for _, f := range p.Files {
			isStarted = isStarted || f.Processes != nil
			for _, name := range f.Extra.library.uses {
				used[name] = true
			}
		}
	}
	for _, p := range all {
		isLibrary := func(f analyzer.File[extra]) bool {
			return f.Extra.library.isExported && path.Dir(f.Path) == p.Dir && !used[f.Extra.packageName]
		}
		isRun := func(f analyzer.File[extra]) bool { return f.Extra.runs || f.Built }
		if !isStarted && slices.ContainsFunc(p.Files, isLibrary) && !slices.ContainsFunc(p.Files, isRun) {
			p.Drop(func(finding.Finding) bool { return true })
		}
	}
}
