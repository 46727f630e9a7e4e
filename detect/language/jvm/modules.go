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

// modules are the projects of a tree, with their builds.
type modules struct {
	projects []*project
	builds   map[*project]*build
}

// newModules connects the projects. A project inherits declarations for subprojects from the projects above (a parent
// pom.xml, the block subprojects of Gradle, the single build of sbt), and the declarations of applied scripts and of
// the tree's own plugins.
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

// maxNeeded bounds the projects that a project is built with.
const maxNeeded = 64

// find sets the projects that each build uses, by Maven artifact or by directory, the name in Gradle.
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

// maxAround bounds the builds that share artifacts and settings with a build.
const maxAround = 64

// share exchanges artifacts and settings between each project and the projects that the build needs: the framework of
// an app serves the implementations in all modules of the app. A project's own settings take precedence.
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

// needed returns the projects that a project is built with, directly or indirectly.
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

// merge moves the findings of a project without a server to the projects that serve and are built with the project.
// The services are dropped: the server serves them.
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

// moveFindings moves the findings of a project to another project, and drops the services.
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
