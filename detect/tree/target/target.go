// Package target knows which of an app's servers the build is told to build. The variables of other buildpacks that
// name a module, project.toml, the Procfile and manifests go in, and the servers that they name come out marked.
//
//	files --Visit--> Files --Targets: environment--> []Target --Mark--> plan.Server.BuiltBy
//
// Begin with [Files], then [Mark]. What belongs to a language is in its [Toolchain].
package target

import (
	"fmt"
	"slices"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Target is what one variable, or one line of a file, says is built.
type Target struct {
	Value
	// named are the modules that it names, in its order.
	named []Module
	// isShown says that it is a line of a document, which does not say what is built.
	isShown bool
}

// A value is read up to here, since each module is compared with each server, and an app may have any number of both.
const (
	maxValue   = 4096 // bytes
	maxModules = 64
	// maxCompared is how many servers an app may have that each command line of a document is compared with.
	maxCompared = 256
)

func (fs *Files) newTarget(v Value) Target {
	named := v.Read(fs, v.Text[:min(len(v.Text), maxValue)])
	return Target{Value: v, named: named[:min(len(named), maxModules)]}
}

// Module is one module as a target names it.
type Module struct {
	Written string
	// Path is the module in the app's folder, if it can be one.
	Path string
	// Builds reports whether it is what a server is built of.
	Builds func(s *plan.Server) bool
}

// Mark sets BuiltBy of the servers that are built, and ShownBy of those that a document starts first. Of the modules in
// one value the first one with a server counts: its program is the image's default process. If a command starts one of
// those that the variables name, that one counts. exists reports whether the app has a file or folder. Mark returns a
// line for users about each value that names no server. If such a value names a program of the app, and no other names
// a server, it is not known whether the servers of its languages are built: neither is where they listen, what carries
// their calls, nor whether they have a health service.
func Mark(servers []plan.Server, targets []Target, exists func(path string) bool) (notes []string) {
	if len(servers) == 0 {
		return nil
	}
	var lead, shown []*plan.Server
	var built map[*plan.Server]bool
	var without []Target
	shownBy, isStarted := "", false
	var leadBy Target
	for _, t := range targets {
		if t.isShown && (shown != nil || len(servers) > maxCompared) {
			break
		}
		groups := t.servers(servers)
		switch {
		case t.isShown:
			shown, shownBy = narrow(groups, nil), t.Says
		case len(groups) == 0:
			without = append(without, t)
		case !t.IsHint:
			built = union(built, groups)
			if lead == nil {
				lead, leadBy = groups[0], t
			}
		case !isStarted:
			if started := narrow(groups, built); started != nil {
				lead, leadBy, isStarted = started, t, true
			}
		}
	}
	for _, s := range lead {
		s.BuiltBy = leadBy.Says
	}
	for _, s := range shown {
		s.ShownBy = shownBy
	}
	for _, t := range without {
		notes = append(notes, t.doubt(servers, lead != nil, exists)...)
	}
	return notes
}

// doubt returns a line about a value that names no server. If it names a program of the app, and nothing else names a
// server, it forgets where the servers listen that the value is about, what carries their calls, and their health
// services. The script that a command starts may use the only server that there is, but which of several is not known.
func (t Target) doubt(servers []plan.Server, isNamed bool, exists func(path string) bool) (notes []string) {
	if len(t.named) == 0 {
		return nil
	}
	m := t.named[0]
	isThere := m.Path == "" || exists(m.Path)
	if t.IsHint && (m.Path == "" || !isThere || isNamed || len(servers) == 1) {
		return nil
	}
	note := fmt.Sprintf("%s names %q, ", t.Says, m.Written[:min(len(m.Written), maxWritten)])
	switch {
	case !isThere:
		return []string{note + "which does not exist"}
	case isNamed:
		return []string{note + "where no gRPC server is found"}
	}
	for i := range servers {
		if s := &servers[i]; t.isAbout(*s) {
			s.Address, s.Security, s.Health, s.HealthEvidence = plan.Address{}, plan.Security{}, "", plan.Place{}
		}
	}
	return []string{note + "where no gRPC server is found: whether the app serves gRPC, and where, is not known"}
}

// maxWritten is how many bytes of a value the log has: an app's files may hold any.
const maxWritten = 200

// isAbout reports whether a target is about servers of the language of one.
func (t Target) isAbout(s plan.Server) bool {
	return t.languages == nil || slices.Contains(t.languages, s.Language)
}

// servers returns the servers of each module that has any.
func (t Target) servers(all []plan.Server) [][]*plan.Server {
	var groups [][]*plan.Server
	for _, m := range t.named {
		var group []*plan.Server
		for i := range all {
			s := &all[i]
			if t.isAbout(*s) && m.Builds(s) {
				group = append(group, s)
			}
		}
		if group != nil {
			groups = append(groups, group)
		}
	}
	return groups
}

// narrow returns the servers that are in the first group and, as far as any are, in those after it. If it is known what
// is built, the others do not count. It returns nil if that leaves none.
func narrow(groups [][]*plan.Server, built map[*plan.Server]bool) []*plan.Server {
	among, chosen := built, []*plan.Server(nil)
	for _, group := range groups {
		if among != nil {
			group = slices.DeleteFunc(group, func(s *plan.Server) bool { return !among[s] })
		}
		if len(group) > 0 {
			among, chosen = union(nil, [][]*plan.Server{group}), group
		}
	}
	return chosen
}

// union adds the servers of groups to a set, which is made if it is nil.
func union(set map[*plan.Server]bool, groups [][]*plan.Server) map[*plan.Server]bool {
	if set == nil {
		set = map[*plan.Server]bool{}
	}
	for _, group := range groups {
		for _, s := range group {
			set[s] = true
		}
	}
	return set
}
