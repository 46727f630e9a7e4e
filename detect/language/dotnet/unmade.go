package dotnet

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// A program that maps services may have classes beside it with a server of Grpc.Core, which nothing makes: what is left
// of an older server, or a part of a library. They prove no server.

var (
	classHead = lazyregexp.New(`\b(?:class|record)\s+(\w+)`)
	// serverMade is a class with a usual name of those with servers, where it is made, named as a type or asked.
	serverMade = lazyregexp.New(
		`\b(?P<name>\w*(?:Server|Host|Service|Endpoint|Runner|Listener))(?:\s*[({]|\s*>|\s*\.)`)
)

// maxClasses is how many classes of a source are looked at.
const maxClasses = 256

// madeIn returns the classes with servers that a source may make.
func madeIn(t *source.Text) []string {
	var all []string
	for _, m := range t.FindAll(serverMade, maxClasses) {
		if name, _ := t.Group(serverMade, m, "name"); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// unmadeIn returns the class with the first of the servers in a source, "" if that source makes an object of it or
// begins the program.
func unmadeIn(t *source.Text, found []finding.Finding) string {
	server, ok := finding.First[finding.Server](found)
	if !ok || server.InMain {
		return ""
	}
	class := ""
	for _, m := range t.FindAll(classHead, maxClasses) {
		if m[0] < finding.Offset(server) {
			class = string(t.Code[m[2]:m[3]])
		}
	}
	if made := lazyregexp.New(`\bnew\s+` + class + `\b`); class == "" || t.Matches(made) {
		return ""
	}
	return class
}

// dropUnmade leaves out the sources with servers of Grpc.Core whose class no other source makes: those of a program
// that maps services, and those of libraries if a program does.
func dropUnmade(projects []*project) {
	isMade := map[string]bool{}
	for _, p := range projects {
		for _, f := range p.Files {
			for _, name := range f.Extra.made {
				isMade[name] = isMade[name] || name != f.Extra.class
			}
		}
	}
	if !slices.ContainsFunc(projects, func(p *project) bool { return mapsServices(p) != nil }) {
		return
	}
	for _, p := range projects {
		if mapsServices(p) == nil && !msbuildOf(p).isLibrary {
			continue
		}
		for _, f := range p.Files {
			if class := f.Extra.class; class != "" && serverMade.MatchString(class+"(") && !isMade[class] {
				p.Package(f.Path).Findings = nil
			}
		}
	}
}
