package target

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Toolchain is how the programs of a language, or of several languages that one build serves, are built and started.
type Toolchain struct {
	// Languages are the names that servers have in plan.Server. They are those of the analyzer, and nil for all.
	Languages []string
	// Extensions are those of sources, and ProjectFiles those of further files that stand for their folder in the value
	// of a variable.
	Extensions, ProjectFiles []string
	// Folders are names of the language, in small letters, that folders have in which an app is the same as in folders
	// of other languages.
	Folders []string
	// Starts are the words that command lines begin with which start a program: "go run". Runtimes are words of command
	// lines that run programs which may have other names than their sources.
	Starts, Runtimes []string
	// Variables say which part of an app is built, the more specific before those that they supersede.
	Variables []Variable
	// IsProgram reports whether a word of a command line is a name that only the language gives the program of a
	// server, such as that of a module. It is nil if there are no such names.
	IsProgram func(fs *Files, s *plan.Server, word string) bool
	// Reads reports, by the path alone, whether Read reads a file. Both are nil if there are no such files.
	Reads func(file string) bool
	Read  func(file string, text []byte) Manifest
}

// IsSource reports whether a file is a source, and not settings or a manifest.
func (t *Toolchain) IsSource(file string) bool { return slices.Contains(t.Extensions, path.Ext(file)) }

// Variable is a build variable of a buildpack.
type Variable struct {
	Name string
	// Source is where the buildpack reads it: repository and file on GitHub.
	Source string
	Read   Reader
	// IsHint says that a value names no module if it does not seem to, as a command line.
	IsHint bool
}

// Reader returns the modules that a value names, when all files of the app were visited.
type Reader func(fs *Files, value string) []Module

// Manifest is what a file says about programs.
type Manifest struct {
	// Names are folders and sources, by the names that the file gives to what is built of them.
	Names map[string]string
	// Embedded are patterns of files that a program carries as its data.
	Embedded []string
	// IsPackage says that the file's folder is a package of its own.
	IsPackage bool
	// Value names what is built or, if it is a hint, what is started, which may be a program in any language.
	Value Value
}

// Value is what a variable or a line of a file says. The zero value stands for none.
type Value struct {
	// Says is who says so, for users: "$BP_GO_TARGETS". Text is what is said.
	Says, Text string
	Read       Reader
	IsHint     bool
	languages  []string // those of the servers that it is about, as plan.Server has them; nil for all
}

// Common has the variables that belong to no language.
var Common = Toolchain{Variables: []Variable{
	{"GOOGLE_BUILDABLE", "GoogleCloudPlatform/buildpacks pkg/env/env.go", Package, false},
	{"GOOGLE_ENTRYPOINT", "GoogleCloudPlatform/buildpacks pkg/env/env.go", Command, true},
	{"BP_PROCFILE_DEFAULT_PROCESS", "paketo-buildpacks/procfile procfile/procfile.go", Command, true},
}}
