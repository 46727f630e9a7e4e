package target

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// The files of an app's folder that say what is built.
const (
	projectFile = "project.toml"
	goMod       = "go.mod"
	cargoToml   = "Cargo.toml"
)

// Files are what the files of an app say is built. Several goroutines may read files at once.
type Files struct {
	mu        sync.Mutex
	variables map[string]string // of project.toml
	processes []procfile.Process
	install   string              // Go packages in go.mod
	crates    map[string]string   // the directories of crates, and the sources of their programs, by name
	packages  map[string]bool     // the directories of packages of Node.js
	npmStart  string              // the command that npm start runs
	image     string              // the command that the Dockerfile starts
	shown     map[string][]string // command lines of each README
	embedded  []string            // patterns of what Go programs carry as their data
}

// NewFiles returns the files of an app before one is read.
func NewFiles() *Files {
	return &Files{
		variables: map[string]string{}, crates: map[string]string{}, shown: map[string][]string{},
		packages: map[string]bool{},
	}
}

// Required reports, by the path alone, whether a file says what is built.
func (fs *Files) Required(file string) bool {
	switch file {
	case projectFile, procfile.Name, goMod, dockerfile:
		return true
	}
	return isGo(file) || isReadme(file) || path.Base(file) == packageJSON ||
		strings.HasSuffix(file, cargoToml) && path.Base(file) == cargoToml
}

// Visit reads a required file. An error means that it was left out.
func (fs *Files) Visit(f *tree.File) error {
	text, err := f.Text()
	if err != nil {
		return err
	}
	if isGo(f.Path) && !bytes.Contains(text, []byte("//go:embed")) {
		return nil
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if isGo(f.Path) {
		fs.readEmbedded(f.Path, text)
		return nil
	}
	switch f.Path {
	case projectFile:
		return fs.readProject(text)
	case procfile.Name:
		fs.processes = procfile.Read(text)
	case goMod:
		if m := herokuInstall.FindSubmatch(text); m != nil {
			fs.install = string(m[1])
		}
	case packageJSON:
		fs.npmStart = startScript(text)
	case dockerfile:
		fs.image = startedByDockerfile(text)
	default:
		switch {
		case isReadme(f.Path):
			fs.shown[f.Path] = startedByReadme(text)
		case path.Base(f.Path) == packageJSON:
			fs.packages[path.Dir(f.Path)] = true
		default:
			fs.readCargo(path.Dir(f.Path), text)
		}
	}
	return nil
}

// readCargo reads the names of a crate and of its programs.
func (fs *Files) readCargo(dir string, text []byte) {
	if m := crateName.FindSubmatch(text); m != nil {
		fs.crates[string(m[1])] = dir
	}
	for _, bin := range crateProgram.FindAll(text, maxModules) {
		name, source := crateKey("name", bin), crateKey("path", bin)
		if name != "" && source != "" {
			fs.crates[name] = path.Join(dir, source)
		}
	}
}

// crateKey returns what a table of Cargo.toml says of a key, "" for nothing.
func crateKey(key string, table []byte) string {
	for _, m := range crateKeys.FindAllSubmatch(table, -1) {
		if string(m[1]) == key {
			return string(m[2])
		}
	}
	return ""
}

var (
	// herokuInstall is the comment that names packages (heroku/buildpacks-go buildpacks/go/src/cfg.rs).
	herokuInstall = lazyregexp.New(`(?m)^//[ \t]*\+heroku[ \t]+install[ \t]+(\S[^\r\n]*)`)
	// crateName is the name of a crate, crateProgram the table of a program, and crateKeys what is in it
	// (The Cargo Book, Cargo Targets).
	crateName    = lazyregexp.New(`(?m)^\[package\][^\[]*?^name[ \t]*=[ \t]*["']([^"'\r\n]+)["']`)
	crateProgram = lazyregexp.New(`(?m)^\[\[bin\]\][^\[]*`)
	crateKeys    = lazyregexp.New(`(?m)^[ \t]*(\w+)[ \t]*=[ \t]*["']([^"'\r\n]+)["']`)
)

// variable is a table of project.toml.
type variable struct {
	Name  string `toml:"name"`
	Value string `toml:"value"`
}

// readProject reads the build's variables: [[io.buildpacks.build.env]], [[io.buildpacks.env.build]] and, in versions of
// the schema before 0.2 and after 0.2, [[build.env]] (buildpacks/pack pkg/project).
func (fs *Files) readProject(text []byte) error {
	var project struct {
		Build struct {
			Env []variable `toml:"env"`
		} `toml:"build"`
		IO struct {
			Buildpacks struct {
				Build struct {
					Env []variable `toml:"env"`
				} `toml:"build"`
				Env struct {
					Build []variable `toml:"build"`
				} `toml:"env"`
			} `toml:"buildpacks"`
		} `toml:"io"`
	}
	if _, err := untrusted.DecodeTOML(text, &project); err != nil {
		return fmt.Errorf("leaving out a file that is not TOML: %w", err)
	}
	in := project.IO.Buildpacks
	for _, all := range [][]variable{project.Build.Env, in.Env.Build, in.Build.Env} {
		for _, v := range all {
			fs.variables[v.Name] = v.Value
		}
	}
	return nil
}

// Targets returns what is said to be built: by variables of the environment, of project.toml, by go.mod, by the
// Procfile's process web, grpc or its only one, by package.json and by the Dockerfile; and what READMEs start. getenv
// returns a variable of the environment, "" for none.
func (fs *Files) Targets(getenv func(name string) string) []Target {
	var modules, hints []Target
	for _, v := range Variables {
		value, says := strings.TrimSpace(getenv(v.Name)), "$"+v.Name
		if value == "" {
			value, says = strings.TrimSpace(fs.variables[v.Name]), says+" in "+projectFile
		}
		if value == "" {
			continue
		}
		t := newTarget(says, value, v, fs)
		if v.isHint {
			hints = append(hints, t)
		} else {
			modules = append(modules, t)
		}
	}
	if fs.install != "" {
		install := Variable{read: goPackages(" "), languages: golang}
		modules = append(modules, newTarget("+heroku install in "+goMod, fs.install, install, fs))
	}
	return slices.Concat(modules, hints, fs.started(), fs.showing())
}

// started returns the processes of the Procfile that may serve, what `npm start` starts, and the Dockerfile's command.
func (fs *Files) started() []Target {
	var all []Target
	started := Variable{read: command, isHint: true}
	for _, p := range procfile.Serving(fs.processes) {
		says := "the " + procfile.Name
		if p.Name == "web" || p.Name == "grpc" {
			says = "the process " + p.Name + " of " + says
		}
		all = append(all, newTarget(says, p.Command, started, fs))
	}
	npm := newTarget("the script start of "+packageJSON, fs.npmStart, Variable{read: npmStart, isHint: true}, fs)
	return append(all, npm, newTarget("the "+dockerfile, fs.image, started, fs))
}

// showing returns what READMEs start, in their order. The one of the shortest name is that of the app's own language.
func (fs *Files) showing() []Target {
	files := slices.SortedFunc(maps.Keys(fs.shown), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	var all []Target
	for _, file := range files {
		for _, line := range fs.shown[file] {
			t := newTarget(plan.Printable(file), line, Variable{read: command, isHint: true}, fs)
			t.isShown = true
			all = append(all, t)
		}
	}
	return all[:min(len(all), maxShown)]
}
