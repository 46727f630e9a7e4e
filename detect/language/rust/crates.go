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

// cargo is a Cargo.toml, as far as it says what is built (The Cargo Book, The Manifest Format).
type cargo struct {
	Workspace *struct{}
	Package   struct{ Name string }
	Lib       *struct {
		CrateType []string `toml:"crate-type"`
	}
	Bin          []any
	Dependencies map[string]any
}

// dependsOn reports whether the packages that a package uses include one, by its own name or renamed.
func (c cargo) dependsOn(name string) bool {
	for key, of := range c.Dependencies {
		if table, ok := of.(map[string]any); ok && table["package"] != nil {
			key, _ = table["package"].(string)
		}
		if key == name {
			return true
		}
	}
	return false
}

// crate is a package of Cargo.
type crate struct {
	cargo
	// isLibrary says that it has a library, isProgram that it has a program or an example, or that another program
	// loads what is made of it: a plugin, an extension of Python.
	isLibrary, isProgram bool
}

// crates are those of an app, by their directories.
type crates map[string]*crate

func cratesOf(files []analyzer.File[extra]) crates {
	all := crates{".": {}}
	for _, f := range files {
		if of := f.Extra.Cargo; of != nil {
			isLoaded := of.Lib != nil && slices.ContainsFunc(of.Lib.CrateType, func(kind string) bool {
				return kind != "lib" && kind != "rlib"
			})
			all[path.Dir(f.Path)] = &crate{*of, of.Lib != nil, of.Bin != nil || isLoaded}
		}
	}
	for _, f := range files {
		c := all[all.of(f.Path)]
		c.isLibrary = c.isLibrary || f.Extra.IsLibrary
		c.isProgram = c.isProgram || f.Extra.HasMain || all.isExample(f.Path)
	}
	return all
}

// of returns the directory of the crate that a file belongs to.
func (all crates) of(file string) string {
	for dir := range tree.Ancestors(file) {
		if all[dir] != nil {
			return dir
		}
	}
	return "."
}

// isExample reports whether a file is an example of its crate. Cargo builds examples into no program (The Cargo Book,
// Cargo Targets). A folder of examples may have crates of its own.
func (all crates) isExample(file string) bool {
	return strings.HasPrefix(file, path.Join(all.of(file), "examples")+"/")
}

// isUnused reports whether a crate is a library alone, which no other crate uses, or only those of an app without a
// program.
func (all crates) isUnused(c *crate) bool {
	isUsed, hasProgram := false, false
	for _, other := range all {
		isUsed = isUsed || other.dependsOn(c.Package.Name)
		hasProgram = hasProgram || other.isProgram
	}
	return c.isLibrary && !c.isProgram && !(isUsed && hasProgram)
}

// isMember reports whether a crate belongs to a workspace around it. Its crates are one project: the server serves the
// services that the others implement.
func (all crates) isMember(dir string) bool {
	for around := range tree.Ancestors(dir) {
		if c := all[around]; dir != "." && c != nil && c.Workspace != nil {
			return true
		}
	}
	return false
}

// postAnalyze makes a server of each file that constructs a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = analyzer.DropUnread(files, func(f analyzer.File[extra]) bool { return f.Extra.LoadsEnvironment })
	crates := cratesOf(files)
	isUnused, isTest, a := map[string]bool{}, map[string]bool{}, app{folders: analyzer.HealthFolders{}}
	for dir, c := range crates {
		isUnused[dir] = crates.isUnused(c)
	}
	for _, f := range files {
		for _, module := range f.Extra.TestModules {
			isTest[module] = true
		}
		a.folders.Add(f.Path, f.Extra.Health)
		a.hasOldHealth = a.hasOldHealth || f.Extra.HasOldHealth
		if f.Extra.Environment != nil {
			a.environment = f.Extra.Environment
		}
	}
	files = slices.Clone(files)
	for i, f := range files {
		files[i].ProjectRoot = f.ProjectRoot && !crates.isMember(path.Dir(f.Path))
		files[i].Findings = nil
		if isInTests(f.Path, isTest) || crates.isExample(f.Path) {
			continue
		}
		for _, of := range f.Findings {
			of = a.decide(of)
			isHealth := finding.Is[finding.Health](of) || finding.Is[finding.HealthStatus](of)
			if of != nil && (isHealth || !isUnused[crates.of(f.Path)]) {
				files[i].Findings = append(files[i].Findings, of)
			}
		}
	}
	return analyzer.Servers(analyzer.Projects(files, analyzer.FileIsPackage), logf)
}

// isInTests reports whether a file belongs to a module that is compiled for tests only.
func isInTests(file string, modules map[string]bool) bool {
	for dir := strings.TrimSuffix(file, ".rs"); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if modules[dir] {
			return true
		}
	}
	return false
}

// app is what the files of an app say together.
type app struct {
	folders      analyzer.HealthFolders
	hasOldHealth bool
	environment  map[string]address.Address
}

// decide returns what a finding stands for, nil for nothing. A generated server of a service Health is grpc.health.v1's
// if the definitions around it say so, and not known if there are none.
func (a app) decide(f finding.Finding) finding.Finding {
	switch of := f.(type) {
	case healthServer:
		defines, isDefined := a.folders.Innermost(finding.Where(f).Path)
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
