package rust

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
)

// cargo is a Cargo.toml, as far as it says what is built (The Cargo Book, The Manifest Format).
type cargo struct {
	Workspace *struct {
		Dependencies map[string]any `toml:"dependencies"`
	} `toml:"workspace"`
	Package struct {
		Name string `toml:"name"`
	} `toml:"package"`
	Lib *struct {
		Name      string   `toml:"name"`
		CrateType []string `toml:"crate-type"`
	} `toml:"lib"`
	Bin          []any          `toml:"bin"`
	Dependencies map[string]any `toml:"dependencies"`
	Target       map[string]struct {
		Dependencies map[string]any `toml:"dependencies"`
	} `toml:"target"`
}

// dependencies returns the names of the packages that a package uses.
func (c cargo) dependencies() []string {
	all := packagesIn(c.Dependencies)
	for _, target := range c.Target {
		all = append(all, packagesIn(target.Dependencies)...)
	}
	return all
}

// packagesIn returns the names of the packages of a table of dependencies: the key of one, or another name that it has
// instead.
func packagesIn(dependencies map[string]any) []string {
	var all []string
	for name, of := range dependencies {
		if table, ok := of.(map[string]any); ok {
			if renamed, ok := table["package"].(string); ok {
				name = renamed
			}
		}
		all = append(all, name)
	}
	return all
}

// isLoaded reports whether another program loads what is made of the package: a plugin, an extension of Python.
func (c cargo) isLoaded() bool {
	return c.Lib != nil && slices.ContainsFunc(c.Lib.CrateType, func(kind string) bool {
		return kind != "lib" && kind != "rlib"
	})
}

// dropLibraries leaves out what packages prove that are libraries alone, which no program of the app uses, and no
// example. shown are the directories of packages with examples.
func dropLibraries(crates []*crate, shown map[string]bool) {
	byName := map[string]*crate{}
	used := map[*crate]bool{}
	var open []*crate
	use := func(c *crate) {
		if c != nil && !used[c] {
			used[c], open = true, append(open, c)
		}
	}
	for _, c := range crates {
		of := cargoOf(c)
		byName[of.Package.Name] = c
		isLibrary := slices.ContainsFunc(c.Files, func(f analyzer.File[extra]) bool { return f.Extra.IsLibrary })
		isProgram := slices.ContainsFunc(c.Files, func(f analyzer.File[extra]) bool { return f.Extra.HasMain })
		isProgram = isProgram || of.Bin != nil || of.isLoaded() || shown[c.Dir]
		if isProgram || !isLibrary && of.Lib == nil {
			use(c)
		}
	}
	for len(open) > 0 {
		c := open[0]
		open = open[1:]
		for _, name := range cargoOf(c).dependencies() {
			use(byName[name])
		}
	}
	for _, c := range crates {
		if !used[c] {
			c.Drop(mayServe)
		}
	}
}

// cargoOf returns the Cargo.toml of a crate, which is empty for files without one.
func cargoOf(c *crate) cargo {
	for _, f := range c.Files {
		if f.Extra.Cargo != nil {
			return *f.Extra.Cargo
		}
	}
	return cargo{}
}

// rootsOf reports whether a source is the root of a library, or of a program, by its path alone (The Cargo Book,
// Package Layout).
func rootsOf(file string) (library, program bool) {
	dir, name := path.Base(path.Dir(file)), path.Base(file)
	return dir == "src" && name == "lib.rs", dir == "src" && name == "main.rs" || dir == "bin"
}
