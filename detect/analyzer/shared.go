package analyzer

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// sharedFindings are the findings of a project's packages without a server, by the innermost directory around each
// finding that holds a server, or by ".". A finding in apps/orders is about the server there, a finding in libs about
// all servers. Findings in examples, tools or tests say nothing of servers outside.
type sharedFindings map[string][]finding.Finding

// shareFindings collects the findings once for all servers of a project, by the project's directory: a tree may hold
// 100,000.
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

// asideWithin returns the directory around a file that is beside the rest of its project, "" for none. An example may
// be a project itself: its files are then about its server.
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

// add adds a finding in a directory. oneServer says that the directory holds one server at most. A [finding.Stated] is
// dropped if several servers could be meant. Only the first health service and the first [finding.HealthDisabled] are
// kept, before the stated findings, so that a search finds them at once. A health service from an option goes before a
// construction or an implementation elsewhere.
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
		if !oneServer && of.Services != nil { // the server with the status is unknown
			of.Services, of.Named = nil, strings.Join(of.Services, ", ")
		}
		s[dir] = append(s[dir], of)
	case finding.HealthDisabled:
		if !finding.Has[finding.HealthDisabled](s[dir]) {
			s[dir] = slices.Insert(s[dir], 0, f)
		}
	}
}

// of returns the findings shared with a server, from the innermost directory first.
func (s sharedFindings) of(server string) []finding.Finding {
	var all []finding.Finding
	for dir := range tree.Ancestors(server) {
		all = append(all, s[dir]...)
	}
	return all
}

// ServerCount is the number of servers by directory, with the servers in subdirectories.
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
