package analyzer

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// sharedFindings are what the packages of a project that make no server say about those that do, by the innermost
// directory around each that holds a server, or by ".": what lies in apps/orders is about the server there, what lies
// in libs about all of them. What lies in examples, tools or tests says nothing of servers outside.
type sharedFindings map[string][]finding.Finding

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

// add adds a finding in a directory, about one server alone or about several. What is stated of one server is not kept
// if several could be meant, and of the others the first of each type is: it goes before what is stated, so that it is
// found at once. A health service that an option turns on goes before what makes or implements it elsewhere.
func (s sharedFindings) add(dir string, f finding.Finding, oneServer bool) {
	switch of := f.(type) {
	case finding.Stated:
		if oneServer {
			s[dir] = append(s[dir], f)
		}
	case finding.Health:
		if first, ok := finding.First[finding.Health](s[dir]); !ok || of.IsUnsure() && !first.IsUnsure() {
			s[dir] = slices.Insert(s[dir], 0, f)
		}
	case finding.HealthStatus:
		if !oneServer && of.Services != nil { // it is not known which one has it
			of.Services, of.Named = nil, strings.Join(of.Services, ", ")
		}
		s[dir] = append(s[dir], of)
	case finding.HealthDisabled:
		if !finding.Has[finding.HealthDisabled](s[dir]) {
			s[dir] = slices.Insert(s[dir], 0, f)
		}
	}
}

// of returns what is shared with a server, of the innermost directory first.
func (s sharedFindings) of(server string) []finding.Finding {
	var all []finding.Finding
	for dir := range tree.Ancestors(server) {
		all = append(all, s[dir]...)
	}
	return all
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
