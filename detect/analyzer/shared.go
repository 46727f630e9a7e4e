package analyzer

import (
	"iter"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// sharedFindings are what the packages of a project that make no server say about those that do, by the innermost
// directory around each that holds a server, or by ".": what lies in apps/orders is about the server there, what lies
// in libs about all of them. What lies in examples, tools or tests says nothing of servers outside.
type sharedFindings map[string]*directoryFindings

// directoryFindings are the findings in a directory, without those in subdirectories that hold a server.
type directoryFindings struct {
	health         *finding.Site
	healthDisabled bool
	// Both are nil if several servers could be meant.
	listeners []finding.Listener
	security  []finding.Security
}

// shareFindings collects them once for all servers of a project, by its directory: a tree may hold 100,000.
func shareFindings(project string, packages []*Package) sharedFindings {
	servers := ServerCount{}
	var others []*Package
	for _, in := range packages {
		if f, ok := finding.First[finding.Server](in.Findings); ok {
			servers.Add(f.Path)
		} else {
			others = append(others, in)
		}
	}
	shared := sharedFindings{}
	for _, in := range others {
		for _, f := range in.Findings {
			file := finding.Where(f).Path
			dir := servers.Innermost(file)
			if aside := asideWithin(project, file); aside == "" || tree.IsWithin(dir, aside) {
				shared.add(dir, f, servers[dir] <= 1)
			}
		}
	}
	return shared
}

// asideWithin returns the directory around a file that is beside the rest of its project, "" for none. The project
// itself may be an example: what lies in it is about its server.
func asideWithin(project, file string) string {
	prefix := project + "/"
	inProject, ok := strings.CutPrefix(file, prefix)
	if !ok {
		prefix = ""
	}
	dir, _ := tree.Aside(inProject)
	if dir == "" {
		return ""
	}
	return prefix + dir
}

// add adds a finding in a directory, about one server alone or about several.
func (s sharedFindings) add(dir string, f finding.Finding, oneServer bool) {
	if s[dir] == nil {
		s[dir] = &directoryFindings{}
	}
	in := s[dir]
	switch f := f.(type) {
	case finding.Health:
		if in.health == nil {
			in.health = f.Site
		}
	case finding.HealthDisabled:
		in.healthDisabled = true
	case finding.Listener:
		if oneServer {
			in.listeners = append(in.listeners, f)
		}
	case finding.Security:
		if oneServer {
			in.security = append(in.security, f)
		}
	}
}

// of yields what is shared with a server, the innermost directory first.
func (s sharedFindings) of(server string) iter.Seq[*directoryFindings] {
	return func(yield func(*directoryFindings) bool) {
		for dir := range tree.Ancestors(server) {
			if in := s[dir]; in != nil && !yield(in) {
				return
			}
		}
	}
}

// ServerCount is how many servers directories hold, with those in their subdirectories.
type ServerCount map[string]int

// Add counts the server in a file.
func (c ServerCount) Add(file string) {
	for dir := range tree.Ancestors(file) {
		c[dir]++
	}
}

// Innermost returns the innermost directory around a file that holds a server, or ".".
func (c ServerCount) Innermost(file string) string {
	for dir := range tree.Ancestors(file) {
		if c[dir] > 0 {
			return dir
		}
	}
	return "."
}
