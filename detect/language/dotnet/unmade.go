package dotnet

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// A program that maps services may have classes beside it with a server of Grpc.Core, which nothing makes: what is left
// of an older server, or a part of a library. They prove no server.

var (
	// serverClass is the name of a class whose mentions are collected. What makes one of another name is not seen.
	serverClass = lazyregexp.New(`\b(?P<name>\w*(?:Server|Host|Service|Endpoint|Runner|Listener))\b`)
	// makesServer are in sources that mention such a class.
	makesServer = source.NewKeywords("Server(", "Host(", "Service(", "Endpoint(", "Runner(", "Listener(",
		"Server>", "Host>", "Service>", "Endpoint>", "Runner>", "Listener>", "Server.", "Host.", "Service.")
	// mentionOfUse stands before the name of a class where its own source uses it.
	mentionOfUse = lazyregexp.New(`(?:\bnew\s+(?:\w+\.)*|\b(?:Add|Create|Start|Run)\w*\s*<(?:\s*[\w.]+\s*,)?\s*)$`)
)

// maxMentions is how many names of classes are collected in one source.
const maxMentions = 256

// mentionsIn returns the classes that a source names which may have servers, other than where it declares them.
func mentionsIn(t *source.Text) []string {
	own := map[string]bool{}
	for _, m := range classesIn(t) {
		name, _ := t.Group(classHead, m, "name")
		own[name] = true
	}
	var all []string
	for _, m := range t.FindAll(serverClass, maxMethods) {
		name, _ := t.Group(serverClass, m, "name")
		before := t.Code[max(0, m[0]-maxQualified):m[0]]
		if own[name] && !mentionOfUse.Match(before) || slices.Contains(all, name) {
			continue
		}
		if all = append(all, name); len(all) == maxMentions {
			break
		}
	}
	return all
}

// maxQualified is how many bytes may stand before a name, with what it is qualified by.
const maxQualified = 100

// classesOfServers returns the classes with servers of Grpc.Core by the lines of these, in which no program begins.
func classesOfServers(t *source.Text, found []finding.Finding) map[int]string {
	var all map[int]string
	for s := range finding.All[finding.Server](found) {
		class := classesIn(t).around(t, finding.Offset(s))
		if s.InMain || class == "" || !serverClass.MatchString(class) {
			continue
		}
		if all == nil {
			all = map[int]string{}
		}
		all[s.Line] = class
	}
	return all
}

// dropUnmade leaves out the servers of Grpc.Core in classes that nothing makes, with what their files say of them:
// those of a program that maps services, and those of libraries if a program does.
func dropUnmade(projects []*project) {
	mentioned, classes := map[string]bool{}, map[plan.Place]string{}
	for _, p := range projects {
		for _, f := range p.Files {
			for _, name := range f.Extra.mentions {
				mentioned[name] = true
			}
			for line, class := range f.Extra.classes {
				classes[plan.Place{Path: f.Path, Line: line}] = class
			}
		}
	}
	if !slices.ContainsFunc(projects, mapsServices) {
		return
	}
	for _, p := range projects {
		if !mapsServices(p) && !msbuildOf(p).isLibrary {
			continue
		}
		for _, in := range p.Packages {
			isUnmade := func(f finding.Finding) bool {
				s, ok := f.(finding.Server)
				return ok && classes[s.Place] != "" && !mentioned[classes[s.Place]]
			}
			if !slices.ContainsFunc(in.Findings, isUnmade) {
				continue
			}
			in.Findings = slices.DeleteFunc(in.Findings, isUnmade)
			if !finding.Has[finding.Server](in.Findings) {
				in.Findings = slices.DeleteFunc(in.Findings, isOfCoreServer)
			}
		}
	}
}

// isOfCoreServer reports whether a finding says something of a server of Grpc.Core.
func isOfCoreServer(f finding.Finding) bool {
	switch f.(type) {
	case finding.Listener, finding.Security, finding.HealthStatus, healthBound, libraryHealthMade:
		return true
	}
	return false
}

// mapsServices reports whether a project maps services.
func mapsServices(p *project) bool {
	return analyzer.ProjectHas[serviceMapped](p) || analyzer.ProjectHas[finding.Registration](p)
}
