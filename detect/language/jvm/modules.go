package jvm

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// modules are the projects of a tree and what they are built with.
type modules struct {
	projects []*project
	builds   map[*project]*build
}

// newModules puts the projects together. A project has what those above it declare for it (a parent pom.xml, the block
// subprojects of Gradle, the one build of sbt), and what the scripts that it applies and the tree's own plugins have.
func newModules(files []analyzer.File[extra], projects []*project) *modules {
	m := &modules{projects, map[*project]*build{}}
	catalog, catalogs := map[string][]string{}, &build{}
	shared := map[string]buildfile.File{} // by name
	for _, f := range files {
		if of := f.Extra.build; of.Catalog != nil {
			maps.Copy(catalog, of.Catalog)
			catalogs.files = append(catalogs.files, of)
		} else if of.Name != "" && !f.ProjectRoot {
			shared[of.Name] = of
		}
	}
	byDir := map[string]*build{}
	for _, p := range projects {
		b := newBuild(p, catalog)
		byDir[p.Dir], m.builds[p] = b, b
		for dir := range tree.Ancestors(p.Dir) {
			if above := byDir[dir]; above != nil && above != b {
				b.around = append(b.around, above)
				for _, f := range above.files {
					if f.ForSubprojects {
						b.include(f)
					}
				}
			}
		}
		for _, name := range b.needs {
			b.add(shared[name].Artifacts)
			b.files = append(b.files, shared[name])
		}
	}
	m.find()
	m.share()
	for _, b := range m.builds {
		b.around = append(b.around, catalogs)
	}
	return m
}

// maxNeeded is how many other projects are looked at for one project.
const maxNeeded = 64

// find finds the projects that each is built with, by their artifacts of Maven or their directories, which are the
// names in Gradle.
func (m *modules) find() {
	byArtifact, byDir := map[string]*project{}, map[string]*project{}
	for _, p := range m.projects {
		byDir[normalize(path.Base(p.Dir))] = p
		for _, f := range p.Files {
			if f.ProjectRoot && f.Extra.build.Name != "" {
				byArtifact[normalize(f.Extra.build.Name)] = p
			}
		}
	}
	for _, b := range m.builds {
		for _, name := range b.needs {
			p := cmp.Or(byArtifact[normalize(name)], byDir[normalize(name)])
			if p != nil && len(b.uses) < maxNeeded && !slices.Contains(b.uses, p) {
				b.uses = append(b.uses, p)
			}
		}
	}
}

// maxAround is how many other builds say something about one.
const maxAround = 64

// share gives each project the artifacts and the settings of the projects that it is built with, and these those of the
// project: the framework of an app serves what the modules of the app implement. The project's own settings go before
// those of others.
func (m *modules) share() {
	artifacts, settings := map[*build][]string{}, map[*build][]setting{}
	for _, b := range m.builds {
		artifacts[b] = slices.Clip(b.artifacts)
	}
	give := func(from, to *build) {
		if len(to.around) < maxAround {
			to.add(artifacts[from])
			settings[to] = append(settings[to], from.stated...)
			to.around = append(to.around, from)
		}
	}
	for _, p := range m.projects {
		for _, needed := range m.needed(p) {
			give(m.builds[needed], m.builds[p])
			give(m.builds[p], m.builds[needed])
		}
	}
	for _, b := range m.builds {
		b.settings = newSettings(settings[b])
		maps.Copy(b.settings, newSettings(b.stated))
	}
}

// needed returns the projects that a project is built with, directly or through others.
func (m *modules) needed(p *project) []*project {
	found := []*project{p}
	seen := map[*project]bool{p: true}
	for i := 0; i < len(found) && len(found) <= maxNeeded; i++ {
		for _, used := range m.builds[found[i]].uses {
			if !seen[used] {
				seen[used] = true
				found = append(found, used)
			}
		}
	}
	return found[1:]
}

// merge gives the findings of a project that makes no server to the projects with a server that are built with it. Its
// services stay behind: the server serves them.
func (m *modules) merge() {
	for _, p := range m.projects {
		if !slices.ContainsFunc(p.Packages, (*analyzer.Package).Serves) {
			continue
		}
		for _, needed := range m.needed(p) {
			if !analyzer.ProjectHas[finding.Server](needed) {
				moveFindings(needed, p)
			} else if made, served := makersOf(p); cmp.Or(made, served) == (maker{}) {
				moveFindings(p, needed)
			}
		}
	}
}

// moveFindings moves the findings of a project to another one, without its services.
func moveFindings(from, to *project) {
	from.Drop(func(f finding.Finding) bool {
		return finding.Is[finding.Registration](f) || finding.Is[finding.Implementation](f)
	})
	for _, in := range from.Packages {
		if len(in.Findings) > 0 {
			to.Packages = append(to.Packages, in)
		}
	}
}
