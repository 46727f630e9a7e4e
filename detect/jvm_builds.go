package detect

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// jvmBuild is what a project is built with, and its settings, with those of the projects around it that count for it.
type jvmBuild struct {
	artifacts []string
	settings  jvmSettings
	profiles  jvmSettings // those for one profile
	needs     []string
	with      []*project // what needs are, where they are projects of the tree
	handsDown []string   // artifacts for the projects below
}

// jvmTree is the builds of a tree.
type jvmTree struct {
	of     map[*project]*jvmBuild
	named  map[string]*project // Maven's artifacts, Gradle's folders
	shared map[string]jvmSays  // scripts that projects apply, and plug-ins of the build's own
}

// jvmBuilds puts together what each project's files say.
func jvmBuilds(facts []fact, all []*project) jvmTree {
	t := jvmTree{map[*project]*jvmBuild{}, map[string]*project{}, map[string]jvmSays{}}
	stands := map[string][]string{}
	for _, f := range facts {
		says := jvmSaysOf(f)
		maps.Copy(stands, says.catalogue)
		if !f.root && says.name != "" {
			t.shared[says.name] = says
		}
	}
	for _, p := range all {
		t.of[p] = jvmBuildOf(p, stands)
		t.named[jvmPlainName(path.Base(p.dir))] = p
	}
	for _, p := range all {
		for _, f := range p.facts {
			if name := jvmSaysOf(f).name; f.root && name != "" {
				t.named[jvmPlainName(name)] = p
			}
		}
	}
	t.inherit(all)
	t.reach(all)
	return t
}

func jvmBuildOf(p *project, stands map[string][]string) *jvmBuild {
	b := &jvmBuild{settings: jvmSettings{}, profiles: jvmSettings{}}
	for _, f := range p.facts {
		says := jvmSaysOf(f)
		maps.Copy(b.profiles, says.profiles)
		if jvmProfile.MatchString(path.Base(f.path)) {
			maps.Copy(b.profiles, says.settings)
			continue
		}
		maps.Copy(b.settings, says.settings)
		artifacts := slices.Clone(says.artifacts)
		for _, alias := range says.aliases {
			artifacts = append(artifacts, stands[alias]...)
			artifacts = append(artifacts, stands[strings.TrimSuffix(alias, ".get")]...)
		}
		b.add(artifacts)
		b.needs = append(b.needs, says.needs...)
		if says.handsDown {
			b.handsDown = append(b.handsDown, artifacts...)
		}
	}
	b.handsDown = slices.DeleteFunc(b.handsDown, func(a string) bool { return !jvmTelling(a) })
	return b
}

// add keeps what tells a framework, once: builds name hundreds of artifacts.
func (b *jvmBuild) add(artifacts []string) {
	const most = 64
	for _, a := range artifacts {
		if len(b.artifacts) < most && jvmTelling(a) && !slices.Contains(b.artifacts, a) {
			b.artifacts = append(b.artifacts, a)
		}
	}
}

// jvmPlainName returns a name as Gradle's accessors and folders both have it.
func jvmPlainName(name string) string { return strings.ToLower(jvmSpelling.Replace(name)) }

// inherit gives projects what those above them hand down: parent poms, subprojects blocks, sbt's one build.
func (t jvmTree) inherit(all []*project) {
	byDir := map[string]*project{}
	for _, p := range all {
		byDir[p.dir] = p
	}
	for _, p := range all {
		for dir := p.dir; dir != "."; {
			dir = path.Dir(dir)
			if above := byDir[dir]; above != nil {
				t.of[p].add(t.of[above].handsDown)
			}
		}
	}
}

// reach gives each project what the ones that it is built with have, and these what those have that are built with them:
// an app's starter serves what its modules implement, by the app's settings.
func (t jvmTree) reach(all []*project) {
	own := map[*project]jvmBuild{}
	for p, b := range t.of {
		b.with = t.projects(b.needs)
		own[p] = *b
	}
	for _, p := range all {
		b := t.of[p]
		for _, q := range t.needed(p) {
			b.add(own[q].artifacts)
			t.of[q].add(own[p].artifacts)
			for key, value := range own[p].settings {
				if _, set := t.of[q].settings[key]; !set {
					t.of[q].settings[key] = value
				}
			}
		}
		for _, name := range b.needs {
			b.add(t.shared[name].artifacts)
		}
	}
}

// maxNeeded is how many other projects are looked at for one.
const maxNeeded = 64

// projects returns those of the tree that have one of the names.
func (t jvmTree) projects(names []string) []*project {
	var found []*project
	for _, name := range names {
		if p := t.named[jvmPlainName(name)]; p != nil && len(found) < maxNeeded && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// needed returns the projects that one is built with, directly or through others.
func (t jvmTree) needed(p *project) []*project {
	found := []*project{p}
	seen := map[*project]bool{p: true}
	for i := 0; i < len(found) && len(found) <= maxNeeded; i++ {
		for _, q := range t.of[found[i]].with {
			if !seen[q] {
				seen[q] = true
				found = append(found, q)
			}
		}
	}
	return found[1:]
}

// join takes projects into the one that makes a server of what they implement.
func (t jvmTree) join(all []*project) {
	for _, p := range all {
		if !p.has(constructs, registers) {
			continue
		}
		for _, q := range t.needed(p) {
			if q.has(constructs) {
				continue
			}
			p.units = append(p.units, q.withoutServices()...)
		}
	}
}

// withoutServices leaves the project's services to another one, and returns its units that say more.
func (p *project) withoutServices() []*unit {
	var more []*unit
	for _, u := range p.units {
		u.signs = slices.DeleteFunc(u.signs, func(s placed) bool { return s.kind == registers })
		if len(u.signs) > 0 {
			more = append(more, u)
		}
	}
	return more
}
