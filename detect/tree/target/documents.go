package target

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// The files of an app's folder that show how the app is started.
const (
	dockerfile = "Dockerfile"
	readme     = "readme"
)

// isReadme reports whether a file is one in an app's folder that describes it.
func isReadme(file string) bool {
	return len(file) >= len(readme) && strings.EqualFold(file[:len(readme)], readme) && !strings.Contains(file, "/")
}

var (
	// instruction is one of a Dockerfile, with the lines that it goes on in (docs.docker.com/reference/dockerfile).
	instruction = lazyregexp.New(`(?im)^[ \t]*(FROM|RUN|COPY|ENTRYPOINT|CMD)[ \t]+((?:[^\\\n]|\\\r?\n|\\.)*)`)
	// jsonForm are the marks between the words of a command in JSON, and at the end of a line that goes on.
	jsonForm = strings.NewReplacer("[", " ", "]", " ", ",", " ", "\\\r\n", " ", "\\\n", " ")
	// output is what a compiler is told to write, and what it makes that of.
	output = lazyregexp.New(`\s-o[ \t=]+(\S+)([^&|;]*)`)
)

// maxShown is how many instructions of a Dockerfile, or command lines of a README, are read.
const maxShown = 128

// startedByDockerfile returns a command line: that of the image, and the names of what its program is made of.
func startedByDockerfile(text []byte) string {
	var entrypoint, cmd string
	var made [][2]string // instructions and what follows them
	for _, m := range instruction.FindAllSubmatch(text, maxShown) {
		words := jsonForm.Replace(string(m[2]))
		switch name := strings.ToUpper(string(m[1])); name {
		case "FROM":
			entrypoint, cmd = "", ""
		case "ENTRYPOINT":
			entrypoint = words
		case "CMD":
			cmd = words
		default:
			made = append(made, [2]string{name, words})
		}
	}
	var words []string
	for _, word := range procfile.Words(entrypoint + " " + cmd) {
		if path.IsAbs(word) {
			word = path.Base(word)
		}
		words = append(words, word)
	}
	for _, instruction := range slices.Backward(made) {
		words = append(words, madeOf(words, instruction[0], instruction[1])...)
	}
	return strings.Join(words, " ")
}

// madeOf returns what an instruction makes a file of that has one of the names.
func madeOf(names []string, instruction, arguments string) []string {
	isNamed := func(file string) bool { return slices.Contains(names, path.Base(file)) }
	if instruction == "COPY" {
		files := strings.Fields(arguments)
		if n := len(files) - 1; n > 0 && isNamed(files[n]) {
			return []string{path.Base(files[n-1])}
		}
		return nil
	}
	var all []string
	for _, m := range output.FindAllStringSubmatch(arguments, maxModules) {
		if isNamed(m[1]) {
			all = append(all, strings.Fields(m[2])...)
		}
	}
	return all
}

// startLine is a command line of a README that starts a program.
func startLine(toolchains []*Toolchain) *lazyregexp.Regexp {
	var starts []string
	for _, t := range toolchains {
		starts = append(starts, t.Starts...)
	}
	return lazyregexp.New("(?m)^[ \t>]*(?:[$%#] +)?`*((?:" + strings.Join(starts, "|") + ")[ \t][^\r\n`]*|" +
		"\\./[^\r\n`]+)")
}

// startedByReadme returns the command lines of a README, in their order.
func (fs *Files) startedByReadme(text []byte) []string {
	var all []string
	for _, m := range fs.startLine.FindAllSubmatch(text, maxShown) {
		all = append(all, string(m[1]))
	}
	return all
}
