package golang

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// exampleDir are the names of directories whose programs show how to use a library, or test it.
var exampleDir = source.Exactly(`_?examples?|samples?|tutorials?|test[-_]?servers?`)

func isExample(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), exampleDir.MatchString)
}

// setExamplesAside makes projects of their own of the examples of an app that has servers beside them: what they hold
// says nothing of these.
func setExamplesAside(all []*project) []*project {
	serves := func(in *analyzer.Package) bool { return servesFromSource(in) && !isExample(in.Path) }
	if !slices.ContainsFunc(all, func(p *project) bool { return slices.ContainsFunc(p.Packages, serves) }) {
		return all
	}
	for _, p := range slices.Clone(all) {
		var proper, examples []*analyzer.Package
		for _, in := range p.Packages {
			if !in.Built && isExample(in.Path) {
				examples = append(examples, in)
			} else {
				proper = append(proper, in)
			}
		}
		if p.Packages = proper; examples != nil {
			all = append(all, &project{Dir: p.Dir, Packages: examples})
		}
	}
	return all
}

// maxProgramPackages is how many packages with servers are looked at that are no programs: what imports each is
// searched.
const maxProgramPackages = 64

// namePrograms tells which programs make each server: the one that it stands in, or those that import its package,
// those of examples last.
func (w workspace) namePrograms(servers []plan.Server) {
	programs := map[string][]string{}
	var importers map[string][]string
	for i, s := range servers {
		dir := path.Dir(s.Evidence.Path)
		if s.Built || w.mains[dir] {
			servers[i].Programs = []string{dir}
			continue
		}
		if _, known := programs[dir]; !known && len(programs) < maxProgramPackages {
			if importers == nil {
				importers = w.importers()
			}
			programs[dir] = w.programsAmong(closure([]string{dir}, func(d string) []string { return importers[d] }))
		}
		servers[i].Programs = programs[dir]
	}
}

// maxPrograms is how many programs of one server are known: what a build names is compared with each.
const maxPrograms = 32

// programsAmong returns the programs among directories, the likeliest one first.
func (w workspace) programsAmong(dirs map[string]bool) []string {
	mains := w.mainsAmong(dirs)
	slices.SortFunc(mains, func(a, b string) int {
		return cmp.Or(plan.CompareBool(isExample(a), isExample(b)),
			cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	return slices.Clip(mains[:min(len(mains), maxPrograms)])
}
