package golang

import (
	"sort"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// tellApart tells which of the servers of a package is served over HTTP on an address: that of the function which has
// the address too. The handlers of connect in one function are one server.
func (w workspace) tellApart(in *analyzer.Package) {
	servers := map[place][]finding.Server{}
	total := 0
	for s := range finding.All[finding.Server](in.Findings) {
		at := w.function(s.Site)
		if n := len(servers[at]); n == 0 || s.Framework != connectGo || servers[at][n-1].Framework != connectGo {
			servers[at] = append(servers[at], s)
			total++
		}
	}
	if total < 2 {
		return
	}
	for i, f := range in.Findings {
		l, ok := f.(listener)
		if !ok || l.by != plainHTTP || l.of != nil {
			continue
		}
		if of := servers[w.function(l.Site)]; len(of) == 1 {
			l.of = of[0].Site
			in.Findings[i] = l
		}
	}
}

// place is a function of a file, by its position among them.
type place struct {
	file     string
	function int
}

// function returns the function that a finding stands in.
func (w workspace) function(at *finding.Site) place {
	return place{at.Path, sort.SearchInts(w.functions[at.Path], at.Line)}
}
