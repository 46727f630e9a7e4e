package dotnet

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// serverMade is a class with a usual name of those with servers, where it is made, named as a type or asked.
var serverMade = lazyregexp.New(
	`\b(?P<name>\w*(?:Server|Host|Service|Endpoint|Runner|Listener))(?:\s*[({]|\s*>|\s*\.)`)

// dropUnmade leaves out the sources with servers of Grpc.Core whose class, which is named as the source, no other one
// makes: those of a program that maps services, and those of libraries if a program does. They are what is left of an
// older server, or a part of a library.
func dropUnmade(projects []*project) {
	if !slices.ContainsFunc(projects, func(p *project) bool { return mapsServices(p) != nil }) {
		return
	}
	classOf := func(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }
	isMade := map[string]bool{}
	for _, p := range projects {
		for _, f := range p.Files {
			for _, name := range f.Extra.made {
				isMade[name] = isMade[name] || name != classOf(f.Path)
			}
		}
	}
	for _, p := range projects {
		for _, in := range p.Packages {
			class := classOf(in.Path)
			s, ok := finding.First[finding.Server](in.Findings)
			isPart := mapsServices(p) != nil || msbuildOf(p).isLibrary
			if ok && !s.InMain && isPart && serverMade.MatchString(class+"(") && !isMade[class] {
				in.Findings = nil
			}
		}
	}
}

// madeIn returns the classes with servers that a source may make.
func madeIn(t *source.Text) []string {
	all := t.Names(serverMade)
	slices.Sort(all)
	return slices.Compact(all)
}
