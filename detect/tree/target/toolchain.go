package target

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Toolchain is how a build makes and starts programs of a language, or of several languages.
type Toolchain struct {
	// Languages are the names of the analyzer's languages, as in plan.Server; nil for all languages.
	Languages []string
	// Extensions are extensions of sources. ProjectFiles are extensions of further files that stand for their folder in
	// the value of a variable.
	Extensions, ProjectFiles []string
	// Folders are names of the language, in small letters. Folders with such names hold the same app in several
	// languages.
	Folders []string
	// Starts are the first words of command lines that start a program: "go run". Runtimes are words of command lines
	// whose programs may have other names than the sources.
	Starts, Runtimes []string
	// Variables say which part of an app is built, the more specific before the variables they supersede.
	Variables []Variable
	// IsProgram reports whether a word of a command line is a name that only the language gives the program of a
	// server, such as the name of a module. IsProgram is nil if there are no such names.
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
	// Source is the repository and file on GitHub where the buildpack reads the variable.
	Source string
	Read   Reader
	// IsHint says that a value may name no module, as a command line may.
	IsHint bool
}

// Reader returns the modules in a value, after all files of the app were visited.
type Reader func(fs *Files, value string) []Module

// Manifest is the content of a file about programs.
type Manifest struct {
	// Names are folders and sources, by the names the file gives to their programs.
	Names map[string]string
	// Embedded are patterns of files that a program carries as data.
	Embedded []string
	// IsPackage says that the file's folder is a package of its own.
	IsPackage bool
	// Value names the built program or, as a hint, the started program, which may be in any language.
	Value Value
}

// Value is the text of a variable or of a line in a file. The zero value stands for none.
type Value struct {
	// Says names the origin of Text for users: "$BP_GO_TARGETS".
	Says, Text string
	Read       Reader
	IsHint     bool
	languages  []string // languages of the servers concerned, as in plan.Server; nil for all
}

// Common has the variables that belong to no language.
var Common = Toolchain{Variables: []Variable{
	{"GOOGLE_BUILDABLE", "GoogleCloudPlatform/buildpacks pkg/env/env.go", Package, false},
	{"GOOGLE_ENTRYPOINT", "GoogleCloudPlatform/buildpacks pkg/env/env.go", Command, true},
	{"BP_PROCFILE_DEFAULT_PROCESS", "paketo-buildpacks/procfile procfile/procfile.go", Command, true},
}}
