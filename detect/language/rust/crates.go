package rust

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// cargo is the part of a Cargo.toml about the built targets (The Cargo Book, The Manifest Format).
type cargo struct {
	Workspace    any
	Package      struct{ Name string }
	Lib, Bin     any
	Dependencies map[string]any

	isLibrary, isProgram bool // isProgram: is a program, is loaded by a program, or has an example
}

// app combines the files of an app.
type app struct {
	// crates are the packages of Cargo by directory, and used the names of all dependencies.
	crates map[string]*cargo
	used   map[string]bool
	// hasProgram says that a crate is a program, and hasOldHealth that a crate has a tonic-health before 0.6.
	hasProgram, hasOldHealth bool
	testModules              map[string]bool
	health                   analyzer.HealthFolders
	environment              map[string]address.Address
}

func appOf(files []analyzer.File[extra]) app {
	a := app{
		crates: map[string]*cargo{".": {}}, used: map[string]bool{}, testModules: map[string]bool{},
		health: analyzer.HealthFoldersOf(files),
	}
	for _, f := range files {
		if f.Extra.Cargo == nil {
			continue
		}
		c := *f.Extra.Cargo
		a.crates[path.Dir(f.Path)] = &c
		for name, of := range c.Dependencies {
			if table, ok := of.(map[string]any); ok && table["package"] != nil {
				name, _ = table["package"].(string)
			}
			a.used[name] = true
		}
	}
	for _, f := range files {
		c := a.crates[a.crateOf(f.Path)]
		c.isLibrary = c.isLibrary || f.Extra.IsLibrary
		c.isProgram = c.isProgram || f.Extra.IsProgram || a.isExample(f.Path)
		a.hasProgram = a.hasProgram || c.isProgram
		a.hasOldHealth = a.hasOldHealth || f.Extra.HasOldHealth
		for _, module := range f.Extra.TestModules {
			a.testModules[module] = true
		}
		if f.Extra.Environment != nil {
			a.environment = f.Extra.Environment
		}
	}
	return a
}

// crateOf returns the directory of the crate that a file belongs to.
func (a app) crateOf(file string) string {
	for dir := range tree.Ancestors(file) {
		if a.crates[dir] != nil {
			return dir
		}
	}
	return "."
}

// isExample reports whether a file is an example of the crate. Cargo builds examples into no program (The Cargo Book,
// Cargo Targets). A folder of examples may have separate crates.
func (a app) isExample(file string) bool {
	return strings.HasPrefix(file, path.Join(a.crateOf(file), "examples")+"/")
}

// isTest reports whether a file belongs to a module that is compiled for tests only.
func (a app) isTest(file string) bool {
	for dir := strings.TrimSuffix(file, ".rs"); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if a.testModules[dir] {
			return true
		}
	}
	return false
}

// isUnused reports whether a file belongs to a library alone, in an app without a program or without a crate that uses
// the library.
func (a app) isUnused(file string) bool {
	c := a.crates[a.crateOf(file)]
	return c.isLibrary && !c.isProgram && !(a.hasProgram && a.used[c.Package.Name])
}

// isMember reports whether the crate of a manifest belongs to a workspace around the crate. A workspace is a single
// project: the server serves the services of all crates.
func (a app) isMember(manifest string) bool {
	for around := range tree.Ancestors(path.Dir(manifest)) {
		if c := a.crates[around]; around != path.Dir(manifest) && c != nil && c.Workspace != nil {
			return true
		}
	}
	return false
}

// postAnalyze makes a server of each file that constructs a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = analyzer.DropUnread(files, func(f analyzer.File[extra]) bool { return f.Extra.LoadsEnvironment })
	a := appOf(files)
	files = slices.Clone(files)
	for i, f := range files {
		files[i].ProjectRoot = f.ProjectRoot && !a.isMember(f.Path)
		files[i].Findings = nil
		isLeftOut, isUnused := a.isTest(f.Path) || a.isExample(f.Path), a.isUnused(f.Path)
		for _, of := range f.Findings {
			of = a.decide(of)
			isHealth := finding.Is[finding.Health](of) || finding.Is[finding.HealthStatus](of)
			if of != nil && !isLeftOut && (isHealth || !isUnused) {
				files[i].Findings = append(files[i].Findings, of)
			}
		}
	}
	return analyzer.Servers(analyzer.Projects(files, analyzer.FileIsPackage), logf)
}

// decide returns the meaning of a finding, nil for none. The definitions around a generated server of a service Health
// tell whether the service is grpc.health.v1's. Without definitions, the finding is unsure.
func (a app) decide(f finding.Finding) finding.Finding {
	switch of := f.(type) {
	case healthServer:
		defines, isDefined := a.health.Innermost(finding.Where(f).Path)
		switch {
		case !isDefined:
			return finding.Health{Site: of.AsUnsure()}
		case !defines.Standard:
			return nil
		}
		return finding.Health{Site: of.Site}
	case finding.Health:
		of.NeedsStatus = of.NeedsStatus || a.hasOldHealth
		return of
	case finding.Listener:
		set, ok := a.environment[of.Address.Variable]
		switch {
		case !ok || set.Port == of.Address.Port:
			return of
		case of.Address.Port != 0: // some buildpacks leave all but the programs out of the image
			set = address.Address{Place: of.Address.Place}
		default:
			set.Place.Path, set.Host = analyzer.EnvironmentFile, max(set.Host, of.Address.Host)
		}
		in := finding.Listens(set, "the file .env and the code differ")
		in.Of = of.Of
		return in
	}
	return f
}
