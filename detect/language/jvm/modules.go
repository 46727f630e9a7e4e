package jvm

import (
	"maps"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
)

// modules are the projects of a tree and what they are built with.
type modules struct {
	projects []*project
	builds   map[*project]*build
	byName   map[string]*project       // by artifact of Maven and by directory, which is the name in Gradle
	shared   map[string]buildfile.File // scripts that projects apply and plugins of the tree's own, by name
}

func newModules(files []analyzer.File[extra], projects []*project) *modules {
	m := &modules{projects, map[*project]*build{}, map[string]*project{}, map[string]buildfile.File{}}
	catalog, catalogs := map[string][]string{}, &build{}
	for _, f := range files {
		if f.Extra.build.Catalog != nil {
			maps.Copy(catalog, f.Extra.build.Catalog)
			catalogs.files = append(catalogs.files, f.Extra.build)
		}
		if name := f.Extra.build.Name; !f.ProjectRoot && name != "" {
			m.shared[name] = f.Extra.build
		}
	}
	for _, p := range projects {
		m.builds[p] = newBuild(p, catalog)
		m.byName[normalize(path.Base(p.Dir))] = p
	}
	for _, p := range projects {
		for _, f := range p.Files {
			if name := f.Extra.build.Name; f.ProjectRoot && name != "" {
				m.byName[normalize(name)] = p
			}
		}
	}
	m.inherit()
	m.share()
	for _, b := range m.builds {
		b.around = append(b.around, catalogs)
	}
	return m
}

// inherit gives projects what those above them declare for them: a parent pom.xml, the block subprojects of Gradle, the
// one build of sbt.
func (m *modules) inherit() {
	byDir := map[string]*build{}
	for _, p := range m.projects {
		byDir[p.Dir] = m.builds[p]
	}
	for _, p := range m.projects {
		b := m.builds[p]
		b.uses = m.named(b.needs)
		for dir := p.Dir; dir != "."; {
			dir = path.Dir(dir)
			if above := byDir[dir]; above != nil {
				b.add(above.below.artifacts)
				b.uses = append(b.uses, m.named(above.below.needs)...)
				b.around = append(b.around, above)
			}
		}
		for _, name := range b.needs {
			b.add(m.shared[name].Artifacts)
			b.files = append(b.files, m.shared[name])
		}
	}
}

// maxAround is how many other builds say something about one.
const maxAround = 64

// share gives each project the artifacts and the settings of the projects that it is built with, and these those of the
// project: the framework of an app serves what the modules of the app implement.
func (m *modules) share() {
	own := map[*project]build{}
	for p, b := range m.builds {
		of := settings{maps.Clone(b.settings.values), maps.Clone(b.settings.isOpen)}
		own[p] = build{artifacts: slices.Clip(b.artifacts), settings: of}
	}
	give := func(from, to *project) {
		b := m.builds[to]
		b.add(own[from].artifacts)
		b.settings.addOthers(own[from].settings)
		if len(b.around) < maxAround {
			b.around = append(b.around, m.builds[from])
		}
	}
	for _, p := range m.projects {
		for _, needed := range m.needed(p) {
			give(needed, p)
			give(p, needed)
		}
	}
}

// maxNeeded is how many other projects are looked at for one project.
const maxNeeded = 64

// named returns the projects that have one of the names.
func (m *modules) named(names []string) []*project {
	var found []*project
	for _, name := range names {
		if p := m.byName[normalize(name)]; p != nil && len(found) < maxNeeded && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
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
			switch {
			case !analyzer.ProjectHas[finding.Server](needed):
				moveFindings(needed, p)
			case !makesServer(p):
				moveFindings(p, needed)
			}
		}
	}
}

// makesServer reports whether a project constructs a server or has a framework that does. A server of another project
// serves what it registers if not.
func makesServer(p *project) bool {
	for f := range p.All() {
		_, hasKeys := frameworkKeys[finding.FrameworkOf(f)]
		of, _ := f.(finding.Implementation)
		if finding.Is[finding.Server](f) || finding.Is[finding.Registration](f) && hasKeys || of.Served {
			return true
		}
	}
	return false
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
