package jvm

import (
	"maps"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
)

// maxDeclared is how many names are declared for one project.
const maxDeclared = 20_000

// declareForProjects declares in each project what its sources may ask for and its own files do not declare: the
// settings in force, and what the constructors are given by the projects that it is built with, or that are built with
// it.
func (m *modules) declareForProjects() {
	around := map[*project][]*project{}
	for _, p := range m.projects {
		for _, q := range m.needed(p) {
			around[p] = append(around[p], q)
			if len(around[q]) < maxNeeded {
				around[q] = append(around[q], p)
			}
		}
	}
	declares := map[*project][]address.Declaration{}
	for _, p := range m.projects {
		declares[p] = m.settingsFor(p)
		for _, q := range around[p] {
			declares[p] = append(declares[p], argumentsIn(q, maxDeclared-len(declares[p]))...)
		}
	}
	for p, all := range declares {
		p.Files = append(p.Files, analyzer.File[extra]{Path: p.Dir, Result: analyzer.Result[extra]{Declares: all}})
	}
}

// settingsFor returns the settings of a project: those that frameworks read before those of the app's own, and these
// before those of the projects that it is built with. What a profile alone sets is set to nothing that is known.
func (m *modules) settingsFor(p *project) []address.Declaration {
	values := map[string]setting{}
	for _, q := range slices.Backward(append([]*project{p}, m.needed(p)...)) {
		for key := range m.builds[q].profileSettings.values {
			values[key] = setting{}
		}
		maps.Copy(values, m.builds[q].ownSettings.values)
		maps.Copy(values, m.builds[q].settings.values)
	}
	m.addConf(p, values)
	var declares []address.Declaration
	for key, s := range values {
		declares = append(declares, address.Declaration{Name: settingName(key).Path, Value: s.value()})
	}
	return declares
}

// argumentsIn returns what a project gives to constructors, as far as there is room.
func argumentsIn(p *project, room int) []address.Declaration {
	var found []address.Declaration
	for _, f := range p.Files {
		for _, d := range f.Declares {
			if strings.HasSuffix(d.Name, ")=") && len(found) < room {
				d.Place.Path = f.Path
				found = append(found, d)
			}
		}
	}
	return found
}
