package rust

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree/target"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var toolchain = target.Toolchain{
	Extensions: []string{".rs"},
	Folders:    []string{"rust"},
	Starts:     []string{"cargo run"},
	Variables: []target.Variable{
		{Name: "BP_CARGO_WORKSPACE_MEMBERS", Source: cargoBuildpack, Read: readMembers},
		{Name: "BP_CARGO_INSTALL_ARGS", Source: cargoBuildpack, Read: readPath, IsHint: true},
	},
	IsProgram: isOfCrate,
	Reads:     func(file string) bool { return path.Base(file) == manifest },
	Read:      readNames,
}

const cargoBuildpack = "paketo-community/cargo buildpack.toml"

// readMembers reads names of crates, with commas between them.
func readMembers(fs *target.Files, value string) []target.Module {
	var all []target.Module
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		dir, ok := fs.Names[name]
		if !ok {
			isNone := func(*plan.Server) bool { return false }
			all = append(all, target.Module{Written: name, Path: name, Builds: isNone})
			continue
		}
		if dir == "." { // beside other crates
			dir = "src"
		}
		all = append(all, fs.In(name, dir)...)
	}
	return all
}

// readPath reads the crate's folder in arguments of Cargo.
func readPath(fs *target.Files, value string) (all []target.Module) {
	for flag, argument := range target.Flags(value) {
		if flag == "--path" {
			all = append(all, target.Directory(fs, argument)...)
		}
	}
	return all
}

// isOfCrate reports whether a word is the name of a server's crate, or of a program in the crate.
func isOfCrate(fs *target.Files, s *plan.Server, word string) bool {
	source, ok := fs.Names[path.Base(word)]
	return ok && target.IsIn(s, source)
}

var (
	// crateName is the name of a crate, crateProgram the table of a program, and crateKeys the keys within
	// (The Cargo Book, Cargo Targets).
	crateName    = lazyregexp.New(`(?m)^\[package\][^\[]*?^name[ \t]*=[ \t]*["']([^"'\r\n]+)["']`)
	crateProgram = lazyregexp.New(`(?m)^\[\[bin\]\][^\[]*`)
	crateKeys    = lazyregexp.New(`(?m)^[ \t]*(\w+)[ \t]*=[ \t]*["']([^"'\r\n]+)["']`)
)

// maxCratePrograms bounds the programs of a crate.
const maxCratePrograms = 64

// readNames reads the names of a crate and of the crate's programs.
func readNames(file string, text []byte) target.Manifest {
	dir, names := path.Dir(file), map[string]string{}
	if m := crateName.FindSubmatch(text); m != nil {
		names[string(m[1])] = dir
	}
	for _, program := range crateProgram.FindAll(text, maxCratePrograms) {
		keys := map[string]string{}
		for _, m := range crateKeys.FindAllSubmatch(program, -1) {
			keys[string(m[1])] = string(m[2])
		}
		if keys["name"] != "" && keys["path"] != "" {
			names[keys["name"]] = path.Join(dir, keys["path"])
		}
	}
	return target.Manifest{Names: names}
}
