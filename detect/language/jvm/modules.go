package jvm

import (
	"maps"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
)

// modules are the projects of a tree and what they are built with.
type modules struct {
	projects []*project
	builds   map[*project]*build
	byName   map[string]*project       // by artifact of Maven and by directory, which is the name in Gradle
	catalog  versions                  // those of all version catalogs
	shared   map[string]buildfile.File // scripts that projects apply and plugins of the tree's own, by name
	// neighbours are the projects that a project is built with, or that are built with it; nil before they are asked
	// for.
	neighbours map[*project][]*project
}

func newModules(files []analyzer.File[extra], projects []*project, processes procfile.Processes) *modules {
	m := &modules{
		projects: projects, builds: map[*project]*build{},
		byName: map[string]*project{}, shared: map[string]buildfile.File{},
	}
	catalog := map[string][]string{}
	for _, f := range files {
		if f.Extra.build.Catalog != nil {
			maps.Copy(catalog, f.Extra.build.Catalog)
			m.catalog.add(f.Extra.build)
		}
		if name := f.Extra.build.Name; !f.ProjectRoot && name != "" {
			m.shared[name] = f.Extra.build
		}
	}
	for _, p := range projects {
		m.builds[p] = newBuild(p, catalog)
		m.builds[p].processes = processes
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
		b.around = append(b.around, &build{declared: m.catalog})
	}
	return m
}

// inherit gives projects what those above them declare for them, artifacts and needs: a parent pom.xml, the block
// subprojects of Gradle, the one build of sbt.
func (m *modules) inherit() {
	byDir, needed := map[string]*project{}, map[*project][]*project{}
	for _, p := range m.projects {
		byDir[p.Dir], needed[p] = p, m.named(m.builds[p].subprojectsNeed)
	}
	for _, p := range m.projects {
		for dir := p.Dir; dir != "."; {
			dir = path.Dir(dir)
			if above := byDir[dir]; above != nil {
				m.builds[p].add(m.builds[above].forSubprojects)
				m.builds[p].uses = append(m.builds[p].uses, needed[above]...)
				m.builds[p].around = append(m.builds[p].around, m.builds[above])
			}
		}
	}
}

// share gives each project the artifacts of the projects that it is built with, and their settings as far as the class
// path has them for its framework. It also gives these the artifacts and the settings of the project: the framework of
// an app serves what the modules of the app implement.
func (m *modules) share() {
	own := map[*project][]string{}
	for p, b := range m.builds {
		b.uses = append(b.uses, m.named(b.needs)...)
		own[p] = slices.Clip(b.artifacts)
	}
	for _, p := range m.projects {
		b := m.builds[p]
		for _, needed := range m.needed(p) {
			b.add(own[needed])
			m.builds[needed].addAround(b)
			m.builds[needed].add(own[p])
		}
		for _, name := range b.needs {
			b.add(m.shared[name].Artifacts)
			b.declared.add(m.shared[name])
		}
	}
	m.configure()
}

// configure gives each project its settings.
func (m *modules) configure() {
	own := map[*project]settings{}
	confs := map[*project][]fileSettings{}
	for _, p := range m.projects {
		for _, of := range append([]*project{p}, m.needed(p)...) {
			confs[p] = append(confs[p], m.builds[of].confs...)
		}
	}
	for _, p := range m.projects {
		b := m.builds[p]
		b.confs = confs[p]
		b.configure(m.classPath(p))
		b.replaceConf()
		own[p] = b.settings.clone()
	}
	for _, p := range m.projects {
		for _, needed := range m.needed(p) {
			m.builds[needed].settings.mergeDefaults(own[p])
			m.builds[needed].profileSettings.mergeDefaults(m.builds[p].profileSettings)
			m.builds[needed].otherSettings.mergeDefaults(m.builds[p].otherSettings)
			m.builds[p].otherSettings.mergeDefaults(m.builds[needed].otherSettings)
		}
	}
	for _, p := range m.projects {
		for _, needed := range m.needed(p) {
			m.builds[needed].leaveOpen(own[needed], own[p])
		}
	}
}

// leaveOpen says of the settings that the project does not have itself that they are not known, if a project that is
// built with it has others than another one.
func (b *build) leaveOpen(own, user settings) {
	for key, s := range user.values {
		if _, isOwn := own.values[key]; !isOwn && b.settings.text(key) != s.text {
			delete(b.settings.values, key)
			b.profileSettings.merge(settings{values: map[string]setting{key: s}})
		}
	}
}

// classPath returns the settings files on the class path of a project: its own, and those of the projects that it is
// built with. Of files with one name the first is read alone, except by those that read them all (SmallRye Config,
// MicroProfile Config, Typesafe Config).
func (m *modules) classPath(p *project) []fileSettings {
	b := m.builds[p]
	files := slices.Clone(b.files)
	seen := map[string]bool{}
	for _, f := range files {
		seen[path.Base(f.name)] = true
	}
	for _, needed := range m.needed(p) {
		for _, f := range m.builds[needed].files {
			name := path.Base(f.name)
			if seen[name] && !b.has(quarkusServer) && !readTogether.MatchString(name) {
				continue
			}
			seen[name], f.isNeeded = true, true
			files = append(files, f)
		}
	}
	return files
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
		switch f := f.(type) {
		case finding.Server:
			return true
		case finding.Registration:
			if isStarter(f.Framework) {
				return true
			}
		case finding.Implementation:
			if f.Served {
				return true
			}
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
