package target

import (
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

// projectFile is the file in an app's folder with variables of the build.
const projectFile = "project.toml"

// Files are the statements of an app's files on the programs to build. Several goroutines may read files at once.
type Files struct {
	// Names are folders and sources, by the names manifests give to their programs.
	Names map[string]string

	toolchains []*Toolchain
	startLine  *lazyregexp.Regexp

	mu        sync.Mutex
	variables map[string]string // of project.toml
	processes []procfile.Process
	packages  map[string]bool     // the folders of packages
	values    []Value             // of manifests
	image     string              // the command of the Dockerfile
	shown     map[string][]string // command lines of each README
	embedded  []embedded
}

// NewFiles returns the Files of an app in some languages, before any file is read.
func NewFiles(toolchains ...Toolchain) *Files {
	fs := &Files{
		variables: map[string]string{}, Names: map[string]string{}, packages: map[string]bool{},
		shown: map[string][]string{},
	}
	for _, t := range append(toolchains, Common) {
		fs.toolchains = append(fs.toolchains, &t)
	}
	fs.startLine = startLine(fs.toolchains)
	return fs
}

// IsSource reports whether a file is a source in one of the languages.
func (fs *Files) IsSource(file string) bool {
	return slices.ContainsFunc(fs.toolchains, func(t *Toolchain) bool { return t.IsSource(file) })
}

// Required reports, by the path alone, whether a file names built programs.
func (fs *Files) Required(file string) bool {
	switch file {
	case projectFile, procfile.Name, dockerfile:
		return true
	}
	return isReadme(file) ||
		slices.ContainsFunc(fs.toolchains, func(t *Toolchain) bool { return t.Reads != nil && t.Reads(file) })
}

// Visit reads a required file. An error means that the file was left out.
func (fs *Files) Visit(f *tree.File) error {
	text, err := f.Text()
	if err != nil {
		return err
	}
	for _, t := range fs.toolchains {
		if t.Reads != nil && t.Reads(f.Path) {
			fs.add(t, f.Path, t.Read(f.Path, text))
		}
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	switch {
	case f.Path == projectFile:
		return fs.readProject(text)
	case f.Path == procfile.Name:
		fs.processes = procfile.Read(text)
	case f.Path == dockerfile:
		fs.image = startedByDockerfile(text)
	case isReadme(f.Path):
		fs.shown[f.Path] = fs.startedByReadme(text)
	}
	return nil
}

func (fs *Files) add(t *Toolchain, file string, m Manifest) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	maps.Copy(fs.Names, m.Names)
	if m.IsPackage {
		fs.packages[path.Dir(file)] = true
	}
	for _, pattern := range m.Embedded[:min(len(m.Embedded), maxEmbedded-len(fs.embedded))] {
		fs.embedded = append(fs.embedded, embedded{pattern, t.Languages})
	}
	if !m.Value.IsHint {
		m.Value.languages = t.Languages
	}
	if m.Value.Text != "" {
		fs.values = append(fs.values, m.Value)
	}
}

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

// Targets returns the targets of a build: from variables of the environment and of project.toml, from manifests, from
// the Procfile's process web, grpc or only process, and from the Dockerfile. The start commands of READMEs come last.
// getenv returns a variable of the environment, "" for none.
func (fs *Files) Targets(getenv func(name string) string) []Target {
	var values []Value
	for _, t := range fs.toolchains {
		for _, v := range t.Variables {
			text, says := strings.TrimSpace(getenv(v.Name)), "$"+v.Name
			if text == "" {
				text, says = strings.TrimSpace(fs.variables[v.Name]), says+" in "+projectFile
			}
			if text != "" {
				values = append(values, Value{says, text, v.Read, v.IsHint, t.Languages})
			}
		}
	}
	slices.SortFunc(fs.values, func(a, b Value) int { return cmp.Compare(a.Says, b.Says) })
	values = slices.Concat(values, fs.serving(), fs.values, []Value{started("the "+dockerfile, fs.image)})
	slices.SortStableFunc(values, func(a, b Value) int { return plan.CompareBool(a.IsHint, b.IsHint) })
	var all []Target
	for _, v := range values {
		all = append(all, fs.newTarget(v))
	}
	return append(all, fs.showing()...)
}

func started(says, command string) Value {
	return Value{Says: says, Text: command, Read: Command, IsHint: true}
}

// serving returns the processes of the Procfile that may serve.
func (fs *Files) serving() []Value {
	var all []Value
	for _, p := range procfile.Serving(fs.processes) {
		says := "the " + procfile.Name
		if p.Name == "web" || p.Name == "grpc" {
			says = "the process " + p.Name + " of " + says
		}
		all = append(all, started(says, p.Command))
	}
	return all
}

// showing returns the start commands of READMEs, in order. The README with the shortest name belongs to the app's own
// language.
func (fs *Files) showing() []Target {
	files := slices.SortedFunc(maps.Keys(fs.shown), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	var all []Target
	for _, file := range files {
		for _, line := range fs.shown[file] {
			t := fs.newTarget(started(plan.Printable(file), line))
			t.isShown = true
			all = append(all, t)
		}
	}
	return all[:min(len(all), maxShown)]
}
