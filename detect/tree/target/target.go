// Package target knows which servers of an app the build is told to build. The input is project.toml, the Procfile,
// manifests, and the variables of other buildpacks that name a module. The output is marks on the named servers.
//
//	files --Visit--> Files --Targets: environment--> []Target --Mark--> plan.Server.BuiltBy
//
// Begin with [Files], then [Mark]. A [Toolchain] has the parts that belong to a language.
package target

import (
	"fmt"
	"slices"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Target is the statement of a variable, or of a line in a file, on the programs to build.
type Target struct {
	Value
	// named are the modules of the value, in order.
	named []Module
	// isShown marks a line of a document. Such a line does not say which programs are built.
	isShown bool
}

// Each module is compared with each server, and an app may have any number of both: so the length of a value is
// bounded.
const (
	maxValue   = 4096 // bytes
	maxModules = 64
	// maxCompared bounds the servers of an app that each command line of a document is compared with.
	maxCompared = 256
)

func (fs *Files) newTarget(v Value) Target {
	named := v.Read(fs, v.Text[:min(len(v.Text), maxValue)])
	return Target{Value: v, named: named[:min(len(named), maxModules)]}
}

// Module is a module as a target names it.
type Module struct {
	Written string
	// Path is the module in the app's folder, or "" if the module cannot be a path.
	Path string
	// Builds reports whether a server is built of the module.
	Builds func(s *plan.Server) bool
}

// Mark sets BuiltBy of the built servers, and ShownBy of the servers that a document starts first. Of the modules in a
// value, the first with a server counts: its program is the image's default process. If a command starts a server that
// the variables name, the command's server counts. exists reports whether the app has a file or folder. Mark returns a
// line for users about each value without a server. If such a value names a program of the app, and no other value
// names a server, nobody knows whether the servers of the value's languages are built: Mark clears their address,
// security and health service.
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

// doubt returns a line about a value without a server. If the value names a program of the app, and no other value
// names a server, doubt clears the address, security and health service of the servers concerned. The script of a
// command may start the only server of an app, but which of several is unknown.
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

// maxWritten bounds the bytes of a value in the log: an app's files may hold any.
const maxWritten = 200

// isAbout reports whether a target concerns servers in the language of s.
func (t Target) isAbout(s plan.Server) bool {
	return t.languages == nil || slices.Contains(t.languages, s.Language)
}

// servers returns the servers of each module with any.
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

// narrow returns the servers of the first group that are also in later groups, as far as any are. If built is not nil,
// only built servers count. The result is nil if no server is left.
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

// union adds the servers of groups to a set. A nil set is made.
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
