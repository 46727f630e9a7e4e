package target

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Files of an app's folder that show the start of the app.
const (
	dockerfile = "Dockerfile"
	readme     = "readme"
)

// isReadme reports whether a file is a README in the app's own folder.
func isReadme(file string) bool {
	return len(file) >= len(readme) && strings.EqualFold(file[:len(readme)], readme) && !strings.Contains(file, "/")
}

var (
	// instruction is an instruction of a Dockerfile, with continuation lines (docs.docker.com/reference/dockerfile).
	instruction = lazyregexp.New(`(?im)^[ \t]*(FROM|RUN|COPY|ENTRYPOINT|CMD)[ \t]+((?:[^\\\n]|\\\r?\n|\\.)*)`)
	// jsonForm are the marks between the words of a command in JSON, and at the end of a continued line.
	jsonForm = strings.NewReplacer("[", " ", "]", " ", ",", " ", "\\\r\n", " ", "\\\n", " ")
	// output is the output file of a compiler, and the arguments after the file.
	output = lazyregexp.New(`\s-o[ \t=]+(\S+)([^&|;]*)`)
)

// maxShown bounds the instructions of a Dockerfile, and the command lines of a README.
const maxShown = 128

// startedByDockerfile returns the command line of the image, and the names of the files the program is made of.
func startedByDockerfile(text []byte) string {
	var entrypoint, cmd string
	var made [][2]string // instructions and their arguments
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

// madeOf returns the inputs of an instruction that makes a file with one of the names.
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

// startLine matches a command line of a README that starts a program.
func startLine(toolchains []*Toolchain) *lazyregexp.Regexp {
	var starts []string
	for _, t := range toolchains {
		starts = append(starts, t.Starts...)
	}
	return lazyregexp.New("(?m)^[ \t>]*(?:[$%#] +)?`*((?:" + strings.Join(starts, "|") + ")[ \t][^\r\n`]*|" +
		"\\./[^\r\n`]+)")
}

// startedByReadme returns the command lines of a README, in order.
func (fs *Files) startedByReadme(text []byte) []string {
	var all []string
	for _, m := range fs.startLine.FindAllSubmatch(text, maxShown) {
		all = append(all, string(m[1]))
	}
	return all
}
