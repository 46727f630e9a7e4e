package rust

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// cargo is a Cargo.toml, as far as it says what is built (The Cargo Book, The Manifest Format).
type cargo struct {
	Workspace *struct{ Dependencies map[string]any }
	Package   struct{ Name string }
	Lib       *struct {
		CrateType []string `toml:"crate-type"`
	}
	Bin          []any
	Dependencies map[string]any
}

// oldVersion is a requirement that only versions before 0.6 of tonic-health meet, whose health service knows nothing
// until the app sets a status (tonic-health/src/server.rs of tonic).
var oldVersion = lazyregexp.New(`^\s*[=^~]?\s*0\.[1-5](?:\.|\s*$)`)

// hasOldHealth reports whether dependencies have such a tonic-health.
func hasOldHealth(dependencies map[string]any) bool {
	of := dependencies["tonic-health"]
	if table, ok := of.(map[string]any); ok {
		of = table["version"]
	}
	version, _ := of.(string)
	return oldVersion.MatchString(version)
}

// crates are the packages of Cargo in an app, by their directories.
type crates map[string]*crate

type crate struct {
	cargo
	// isLibrary says that it has a library, isProgram that it has a program or an example, or that another program
	// loads what is made of it: a plugin, an extension of Python.
	isLibrary, isProgram bool
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

func cratesOf(files []analyzer.File[extra]) crates {
	all := crates{".": {}}
	for _, f := range files {
		if f.ProjectRoot {
			c := &crate{}
			if f.Extra.Cargo != nil {
				c.cargo = *f.Extra.Cargo
			}
			isLoaded := c.Lib != nil && slices.ContainsFunc(c.Lib.CrateType, func(kind string) bool {
				return kind != "lib" && kind != "rlib"
			})
			c.isLibrary, c.isProgram = c.Lib != nil, c.Bin != nil || isLoaded
			all[path.Dir(f.Path)] = c
		}
	}
	for _, f := range files {
		c := all[all.of(f.Path)]
		c.isLibrary = c.isLibrary || f.Extra.IsLibrary
		c.isProgram = c.isProgram || f.Extra.HasMain || all.isExample(f.Path)
	}
	return all
}

// unused returns the directories of crates that are libraries alone, which no program of the app uses.
func (all crates) unused() map[string]bool {
	dirs, unused := map[string]string{}, map[string]bool{}
	var open []string
	for dir, c := range all {
		dirs[c.Package.Name] = dir
		if unused[dir] = c.isLibrary && !c.isProgram; !unused[dir] {
			open = append(open, dir)
		}
	}
	for len(open) > 0 {
		c := all[open[0]]
		open = open[1:]
		for name, of := range c.Dependencies {
			if table, ok := of.(map[string]any); ok {
				if renamed, ok := table["package"].(string); ok {
					name = renamed
				}
			}
			if dir, ok := dirs[name]; ok && unused[dir] {
				unused[dir] = false
				open = append(open, dir)
			}
		}
	}
	return unused
}

// isMember reports whether a crate belongs to a workspace around it. Its crates are one project: the server serves the
// services that the others implement.
func (all crates) isMember(dir string) bool {
	for around := range tree.Ancestors(dir) {
		if c := all[around]; c != nil && c.Workspace != nil {
			return true
		}
	}
	return false
}

// postAnalyze makes a server of each file that constructs a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = analyzer.DropUnread(files, func(f analyzer.File[extra]) bool { return f.Extra.LoadsEnvironment })
	var environment map[string]address.Address
	crates := cratesOf(files)
	unused := crates.unused()
	isTest, folders, isOld := map[string]bool{}, analyzer.HealthFolders{}, false
	for _, f := range files {
		for _, module := range f.Extra.TestModules {
			isTest[module] = true
		}
		folders.Add(f.Path, f.Extra.Health)
		if f.Extra.Environment != nil {
			environment = f.Extra.Environment
		}
	}
	for _, c := range crates {
		isOld = isOld || hasOldHealth(c.Dependencies) || c.Workspace != nil && hasOldHealth(c.Workspace.Dependencies)
	}
	files = slices.Clone(files)
	for i, f := range files {
		if f.ProjectRoot && crates.isMember(path.Dir(f.Path)) {
			files[i].ProjectRoot = false
		}
		if isInTests(f.Path, isTest) || crates.isExample(f.Path) {
			files[i].Findings = nil
			continue
		}
		files[i].Findings = nil
		for _, of := range f.Findings {
			if of = decide(of, folders, environment, isOld); of != nil && (!unused[crates.of(f.Path)] || isHealth(of)) {
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

func isHealth(f finding.Finding) bool {
	return finding.Is[finding.Health](f) || finding.Is[finding.HealthStatus](f)
}

// decide returns what a finding stands for, nil for nothing. A generated server of a service Health is grpc.health.v1's
// if the definitions around it say so, and not known if there are none.
func decide(
	f finding.Finding, folders analyzer.HealthFolders, environment map[string]address.Address, isOld bool,
) finding.Finding {
	switch of := f.(type) {
	case healthServer:
		defines, isDefined := folders.Innermost(finding.Where(f).Path)
		switch {
		case !isDefined:
			return finding.Health{Site: of.AsUnsure()}
		case !defines.Standard:
			return nil
		}
		return finding.Health{Site: of.Site}
	case finding.Health:
		of.NeedsStatus = of.NeedsStatus || isOld
		return of
	case finding.Listener:
		return inEnvironment(of, environment)
	}
	return f
}

// inEnvironment returns a listener with the address that the file .env sets. If the code has another one for the
// variable it is not known which holds: some buildpacks leave all but the programs out of the image.
func inEnvironment(l finding.Listener, environment map[string]address.Address) finding.Listener {
	set, ok := environment[l.Address.Variable]
	switch {
	case !ok || set.Port == l.Address.Port:
		return l
	case l.Address.Port != 0:
		set = address.Address{Place: l.Address.Place}
	default:
		set.Place.Path, set.Host = analyzer.EnvironmentFile, max(set.Host, l.Address.Host)
	}
	in := finding.Listens(set, "the file .env and the code differ")
	in.Of = l.Of
	return in
}
