package target

import (
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Flags yields the words of a command line, each with its argument if it is a flag.
func Flags(line string) iter.Seq2[string, string] {
	return func(yield func(flag, argument string) bool) {
		words := procfile.Words(line)
		for i, word := range words {
			flag, argument, isLong := strings.Cut(word, "=")
			if !isLong && i+1 < len(words) {
				argument = words[i+1]
			}
			if !yield(flag, argument) {
				return
			}
		}
	}
}

// Command reads the command line of a process. Each word is matched in order of certainty: the source itself or a
// folder around the source; a name that the language gives; the output of a build in a folder; the name of a program;
// another source in the folder; the programs of the command's runtime.
func Command(fs *Files, value string) []Module {
	words := fs.programWords(value)
	var all []Module
	for _, word := range words {
		if fs.IsSource(word) {
			all = append(all, Module{word, word, func(s *plan.Server) bool { return IsIn(s, word) }})
		}
	}
	for _, level := range []func(s *plan.Server, word string) bool{IsIn, fs.isNamed, isOutput, isProgram, isBeside} {
		all = append(all, Module{value, "", func(s *plan.Server) bool {
			return slices.ContainsFunc(words, func(word string) bool { return level(s, word) })
		}})
	}
	if runtime := fs.runtimeOf(value); runtime != nil {
		all = append(all, Module{value, "", func(s *plan.Server) bool {
			return slices.Contains(runtime.Languages, s.Language) && !fs.isInPackage(s)
		}})
	}
	return all
}

func (fs *Files) isNamed(s *plan.Server, word string) bool {
	return slices.ContainsFunc(fs.toolchains, func(t *Toolchain) bool {
		return t.IsProgram != nil && slices.Contains(t.Languages, s.Language) && t.IsProgram(fs, s, word)
	})
}

func (fs *Files) isLauncher(word string) bool {
	return slices.Contains(launchers, word) || slices.ContainsFunc(fs.toolchains, func(t *Toolchain) bool {
		return slices.Contains(t.Runtimes, word) || slices.Contains(strings.Fields(strings.Join(t.Starts, " ")), word)
	})
}

// launchers are words of commands in any language that name no program.
var launchers = []string{"exec", "start", "run", "bash", "sh", "env"}

// runtimeOf returns the runtime of a command line that does not name a source: compilers write files with other names.
func (fs *Files) runtimeOf(value string) *Toolchain {
	var runtime *Toolchain
	for _, word := range procfile.Words(value) {
		if fs.IsSource(word) && !slices.ContainsFunc(strings.Split(word, "/"), isOutputDir) {
			return nil
		}
		i := slices.IndexFunc(fs.toolchains, func(t *Toolchain) bool { return slices.Contains(t.Runtimes, word) })
		if runtime == nil && i >= 0 {
			runtime = fs.toolchains[i]
		}
	}
	return runtime
}

func isOutputDir(dir string) bool { return slices.Contains(outputs, dir) }

// isInPackage reports whether a server lies in a package below the app's folder.
func (fs *Files) isInPackage(s *plan.Server) bool {
	for dir := range tree.Ancestors(s.Evidence.Path) {
		if dir != "." && fs.packages[dir] {
			return true
		}
	}
	return false
}

// programWords returns the words of a command line that may name a program, with the folder of `cd` before the words.
func (fs *Files) programWords(value string) []string {
	var words []string
	dir := ""
	all := procfile.Words(value)
	for i, word := range all {
		switch {
		case word == "cd" && i+1 < len(all):
			dir = strings.Trim(all[i+1], ";&")
			words = append(words, clean(dir))
		case i > 0 && all[i-1] == "cd", strings.HasPrefix(word, "-"), isAssignment(word), strings.Contains(word, "$"):
		default:
			words = append(words, clean(path.Join(dir, strings.Trim(strings.TrimPrefix(word, "/app/"), ";&"))))
		}
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" || fs.isLauncher(word) })
	return words[:min(len(words), maxWords)]
}

// maxWords bounds the words of a command line that may name a program: each is compared with each server.
const maxWords = 16

// isAssignment reports whether a word sets a variable for a command.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && !strings.Contains(name, "/")
}

// outputs are the directories that build tools write into, beside the sources.
var outputs = []string{"target", "build", "bin", "dist", "out", "lib", "publish"}

// isOutput reports whether a word is the output of a build in a server's folder: server/target/app.jar.
func isOutput(s *plan.Server, word string) bool {
	names := strings.Split(word, "/")
	i := slices.IndexFunc(names, isOutputDir)
	return i > 0 && IsIn(s, strings.Join(names[:i], "/"))
}

// isProgram reports whether a word is the name of a program named after the source or after the source's folder, as Go
// and Cargo name programs.
func isProgram(s *plan.Server, word string) bool {
	base := path.Base(word)
	switch ext := path.Ext(base); ext {
	case ".dll", ".exe", ".jar":
		base = strings.TrimSuffix(base, ext)
	}
	programs := s.Programs
	if len(programs) == 0 {
		programs = []string{strings.TrimSuffix(path.Dir(s.Evidence.Path), "/src")}
	}
	file := path.Base(s.Evidence.Path)
	return isSameName(base, strings.TrimSuffix(file, path.Ext(file))) ||
		slices.ContainsFunc(programs, func(dir string) bool { return isSameName(base, path.Base(dir)) })
}

// isSameName ignores case and the marks between words: hello-server, HelloServer.
func isSameName(a, b string) bool {
	return strings.EqualFold(joined.Replace(a), joined.Replace(b))
}

var joined = strings.NewReplacer("-", "", "_", "")

// isBeside reports whether a word is a file in a folder around the server's source.
func isBeside(s *plan.Server, word string) bool {
	dir := path.Dir(word)
	return dir != "." && !slices.Contains(outputs, dir) && IsIn(s, dir)
}
