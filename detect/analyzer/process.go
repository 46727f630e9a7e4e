package analyzer

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// analyze is Analyze, with what the processes of the app are started with, and the services that a file defines.
func (d Definition[T]) analyze(f *tree.File) (*Result[T], error) {
	switch {
	case path.Ext(f.Path) == ".proto", strings.HasSuffix(f.Path, "_grpc.pb.go"):
		result, err := d.Analyze(f)
		if text, unread := f.Text(); unread == nil {
			result = cmp.Or(result, &Result[T]{})
			result.Services = servicesIn(f.Path, text)
		}
		return result, err
	case f.Path != procfile.Name:
		return d.Analyze(f)
	}
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	result := &Result[T]{}
	if d.Required(f.Path) {
		var found *Result[T]
		if found, err = d.Analyze(f); found != nil {
			result = found
		}
	}
	result.Processes = procfile.Started(text)
	return result, err
}

// processes say which of the servers of an app the process starts.
type processes struct {
	*address.Process
	started map[string]bool // by the files of the servers
}

// sameLanguage are the extensions of what is executed of a source with another one.
var sameLanguage = map[string][]string{
	".js":  {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"},
	".jar": {".java", ".kt", ".scala", ".class"}, ".dll": {".cs", ".fs", ".vb"}, ".exs": {".ex"},
}

// processesOf returns which servers of projects the process starts: the one that it names best, or the only one of the
// app. Of several it is not known which one is started.
func processesOf[T any](given procfile.Processes, all []*Project[T]) processes {
	if given == nil {
		return processes{}
	}
	ps := processes{&address.Process{Processes: given}, map[string]bool{}}
	var own, aside []string
	for _, p := range all {
		strength := strengthOf(p.Packages)
		for _, in := range p.Packages {
			if proofs := in.proofs(strength); len(proofs) == 0 || !ps.executes(proofs[0].Path) {
				continue
			} else if in.isAside() {
				aside = append(aside, proofs[0].Path)
			} else {
				own = append(own, proofs[0].Path)
			}
		}
	}
	best := 0
	var named []string
	for _, file := range slices.Concat(own, aside) {
		switch n := ps.names(file); {
		case n == 0 || n < best:
		case n > best:
			best, named = n, []string{file}
		default:
			named = append(named, file)
		}
	}
	if named == nil {
		if named = own; len(own) == 0 {
			named = aside
		}
	}
	for _, file := range named {
		ps.started[file] = true
	}
	ps.IsDoubtful = len(ps.started) > 1
	return ps
}

// executes reports whether the program that a process names may be in the language of a source.
func (ps processes) executes(file string) bool {
	program, _ := ps.Program()
	ext := path.Ext(program)
	if in := strings.TrimLeft(ext, ".cm"); in == "js" || in == "ts" {
		ext = ".js"
	} else if ext == ".war" {
		ext = ".jar"
	}
	of := path.Ext(file)
	return ext == "" || of == "" || ext == of || slices.Contains(sameLanguage[ext], of)
}

// names returns how well a process names a source: by its name, by its folder, or by both. It is 0 if it does not.
func (ps processes) names(file string) int {
	n := 0
	stem := strings.TrimSuffix(file, path.Ext(file))
	for _, end := range []string{path.Ext(file), "", ".js", ".jar", ".dll", "Kt"} {
		if ps.Names(path.Base(stem) + end) {
			n = 2
		}
	}
	for module := strings.ReplaceAll(stem, "/", "."); n < 2; {
		_, rest, ok := strings.Cut(module, ".")
		if !ok {
			break
		} else if ps.Names(module) || ps.Names(module+"Kt") {
			n = 2
		}
		module = rest
	}
	for dir := range tree.Ancestors(file) {
		if name := path.Base(dir); dir != "." && name != "src" && (ps.Names(name) || ps.Names(name+".dll")) {
			return n + 1
		}
	}
	return n
}

// of returns what the process gives the server in a file, nil for nothing.
func (ps processes) of(server plan.Place) *address.Process {
	if !ps.started[server.Path] {
		return nil
	}
	return ps.Process
}
