package target

import (
	"path"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// arguments reads the arguments of a build tool that choose a module: -pl of Maven, --path of Cargo, the path of a
// task of Gradle.
func arguments(value string, _ *Files) []module {
	var all []module
	words := split(value)
	for i, word := range words {
		flag, argument, isLong := strings.Cut(word, "=")
		if !isLong && i+1 < len(words) {
			argument = words[i+1]
		}
		switch {
		case flag == "-pl" || flag == "--projects":
			for project := range strings.SplitSeq(argument, ",") {
				all = append(all, named(project)...)
			}
		case flag == "--path":
			all = append(all, inDirectory(argument, clean(argument))...)
		case strings.HasPrefix(word, ":") || !strings.HasPrefix(word, "-") && strings.Contains(word, ":"):
			task := strings.Split(strings.TrimPrefix(word, ":"), ":")
			all = append(all, inDirectory(word, clean(strings.Join(task[:len(task)-1], "/")))...)
		}
	}
	return all
}

// named returns the module of Maven's -pl: a folder, or :ARTIFACT, whose folder mostly has its name.
func named(project string) []module {
	_, artifact, isArtifact := strings.Cut(project, ":")
	if !isArtifact {
		return inDirectory(project, clean(project))
	}
	return []module{{project, "", func(s *plan.Server) bool {
		return slices.Contains(strings.Split(path.Dir(s.Evidence.Path), "/"), artifact)
	}}}
}

// command reads the command line of a process. Its words are matched as what names a server most surely first: the
// source itself or a folder around it; a Python module or a class of the JVM; a crate or a program of one; what is
// built in a folder; the name of a program; another source in the folder; what the command's runtime runs.
func command(value string, files *Files) []module {
	words := programWords(value)
	match := func(s *plan.Server, level func(s *plan.Server, word string) bool) bool {
		return slices.ContainsFunc(words, func(word string) bool { return level(s, word) })
	}
	var all []module
	for _, word := range words {
		if scripts[path.Ext(word)] {
			all = append(all, module{word, word, func(s *plan.Server) bool { return isPath(s, word) }})
		}
	}
	isCrate := func(s *plan.Server, word string) bool {
		source, ok := files.crates[path.Base(word)]
		return ok && s.Language == "rust" && isIn(s, source)
	}
	levels := []func(*plan.Server, string) bool{
		isPath, isPythonModule, isClass, isCrate, isOutput, isProgram, isBeside,
	}
	for _, level := range levels {
		all = append(all, module{value, "", func(s *plan.Server) bool { return match(s, level) }})
	}
	if languages := runtimeOf(value); languages != nil {
		all = append(all, module{value, "", func(s *plan.Server) bool {
			return slices.Contains(languages, s.Language) && !files.isInPackage(s)
		}})
	}
	return all
}

// scripts are the extensions of sources that a command starts by their names.
var scripts = map[string]bool{
	".py": true, ".js": true, ".cjs": true, ".mjs": true, ".ts": true, ".rb": true, ".php": true, ".dart": true,
	".go": true,
}

// programWords returns the words of a command line that may name a program, with the folder of `cd` before them.
func programWords(value string) []string {
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
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" || launchers[word] })
	return words[:min(len(words), maxWords)]
}

// maxWords is how many words of a command line may name a program: each is compared with each server.
const maxWords = 16

// isAssignment reports whether a word sets a variable for a command.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && !strings.Contains(name, "/")
}

// launchers are words of commands that name no program of an app.
var launchers = map[string]bool{
	"node": true, "npm": true, "yarn": true, "npx": true, "pnpm": true, "bun": true, "java": true, "python": true,
	"python3": true, "ruby": true, "bundle": true, "exec": true, "dotnet": true, "php": true, "start": true,
	"run": true, "bash": true, "sh": true, "env": true, "uv": true, "poetry": true, "pipenv": true, "mix": true,
	"rails": true, "cargo": true, "go": true, "dart": true, "sbt": true, "swift": true, "cabal": true, "stack": true,
	"runMain": true,
}

// split splits a command line as a shell does, or at spaces if a quote is not closed.
func split(value string) []string {
	words, err := shellquote.Split(value)
	if err != nil {
		return strings.Fields(value)
	}
	return words
}

// isPath reports whether a word is the source that makes a server, a folder around it, or the project of one.
func isPath(s *plan.Server, word string) bool {
	return isIn(s, word) || strings.HasSuffix(word, "proj") && isIn(s, path.Dir(word))
}

// isPythonModule reports whether a word is the module of a server, as python -m or an application server has it:
// app.server, app.server:main.
func isPythonModule(s *plan.Server, word string) bool {
	name, _, _ := strings.Cut(word, ":")
	if s.Language != "python" {
		return false
	}
	return isIn(s, strings.ReplaceAll(name, ".", "/")+".py") ||
		strings.Contains(name, ".") && isIn(s, strings.ReplaceAll(name, ".", "/"))
}

// isClass reports whether a word is the class that has the name of the source that makes a server, as java takes it:
// com.example.Server. Kotlin's functions outside of classes are in a class named ServerKt.
func isClass(s *plan.Server, word string) bool {
	if !slices.Contains(jvm, s.Language) || !strings.Contains(word, ".") || strings.Contains(word, "/") {
		return false
	}
	source := strings.TrimSuffix(s.Evidence.Path, path.Ext(s.Evidence.Path))
	class := strings.ReplaceAll(word, ".", "/")
	return slices.ContainsFunc([]string{class, strings.TrimSuffix(class, "Kt")}, func(class string) bool {
		return source == class || strings.HasSuffix(source, "/"+class)
	})
}

// outputs are the directories that build tools write into, beside the sources.
var outputs = []string{"target", "build", "bin", "dist", "out", "lib", "publish"}

// isOutput reports whether a word is what is built of the folder of a server: server/target/app.jar.
func isOutput(s *plan.Server, word string) bool {
	names := strings.Split(word, "/")
	i := slices.IndexFunc(names, func(name string) bool { return slices.Contains(outputs, name) })
	return i > 0 && isIn(s, strings.Join(names[:i], "/"))
}

// isProgram reports whether a word is the name of a program that has the name of the source, or of its folder: Go and
// Cargo name programs so.
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

// isSameName reports whether two names differ in nothing but how words are joined: hello-server, HelloServer.
func isSameName(a, b string) bool {
	return strings.EqualFold(joined.Replace(a), joined.Replace(b))
}

var joined = strings.NewReplacer("-", "", "_", "")

// isBeside reports whether a word is a file in a folder around the source that makes a server.
func isBeside(s *plan.Server, word string) bool {
	dir := path.Dir(word)
	return dir != "." && !slices.Contains(outputs, dir) && isIn(s, dir)
}
