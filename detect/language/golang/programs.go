package golang

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// maxProgramPackages bounds the packages with servers outside of programs: the importers of each are searched.
const maxProgramPackages = 64

// namePrograms names the programs of each server: the program with the server, or the programs that import the server's
// package, with examples last.
func (w workspace) namePrograms(servers []plan.Server) {
	programs := map[string][]string{}
	for i, s := range servers {
		dir := path.Dir(s.Evidence.Path)
		if s.Built || w.mains[dir] {
			servers[i].Programs = []string{dir}
			continue
		}
		if _, known := programs[dir]; !known && len(programs) < maxProgramPackages {
			programs[dir] = w.programsAmong(w.importing(dir))
		}
		servers[i].Programs = programs[dir]
	}
}

// maxPrograms bounds the programs of a server: the names from a build are compared with each.
const maxPrograms = 32

// programsAmong returns the programs among directories, the likeliest one first.
func (w workspace) programsAmong(dirs map[string]bool) []string {
	mains := w.mainsAmong(dirs)
	slices.SortFunc(mains, func(a, b string) int {
		_, isExampleA := tree.Aside(a + "/main.go")
		_, isExampleB := tree.Aside(b + "/main.go")
		return cmp.Or(plan.CompareBool(isExampleA, isExampleB),
			cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	return slices.Clip(mains[:min(len(mains), maxPrograms)])
}
