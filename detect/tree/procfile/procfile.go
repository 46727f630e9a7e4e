// Package procfile reads how the processes of an app are started: by the command lines of a Procfile, which give flags
// and environment variables other values than the sources do.
//
//	Procfile --Read--> []Process --Serving--> Processes --Flag, Variable, Argument--> Value
//
// Begin with [Read], then [Processes].
package procfile

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Name is the file, in the folder of an app.
const Name = "Procfile"

const (
	maxProcesses = 100
	maxCommand   = 4096 // bytes
	maxWords     = 256
)

// Process is a process type of an app.
type Process struct {
	Name    string // "web"
	Command string // as a shell executes it
	Line    int
}

// line is a line of a Procfile (paketo-buildpacks/procfile procfile/procfile.go).
var line = lazyregexp.New(`^([A-Za-z0-9_-]+):[ \t]*(\S[^\r\n]*)`)

// Read returns the processes that a Procfile has, in its order.
func Read(text []byte) []Process {
	var all []Process
	number := 0
	for l := range bytes.Lines(text) {
		number++
		if m := line.FindSubmatch(l); m != nil && len(all) < maxProcesses {
			all = append(all, Process{string(m[1]), string(m[2]), number})
		}
	}
	return all
}

// serving are the names of processes that may serve gRPC. The first one is what the image starts.
var serving = []string{"web", "grpc"}

// Serving returns the processes that may serve gRPC: web and grpc, or the only one that there is.
func Serving(all []Process) []Process {
	var found []Process
	for _, name := range serving {
		for _, p := range all {
			if p.Name == name {
				found = append(found, p)
			}
		}
	}
	if found == nil && len(all) == 1 {
		return all
	}
	return found
}

// Value is what a command line gives a flag, an environment variable or an argument.
type Value struct {
	// Text is what is written. If it ends with an environment variable, it is what stands before that, and the default
	// of the variable: ":" of ":$PORT", "8080" of "${PORT:-8080}".
	Text string
	// Variable is the environment variable at the end, "" for none.
	Variable string
	// HasDefault says that the variable has one.
	HasDefault bool
	// IsUnknown says that a shell calculates it.
	IsUnknown bool
	// IsNext says that it is a word of its own after the flag. That of a flag which takes no value may be anything.
	IsNext bool
	// Place is the line.
	Place plan.Place
}

// variable is an environment variable at the end of a word: $PORT, ${PORT}, ${PORT:-8080}.
var variable = lazyregexp.New(`^([^$` + "`" + `]*)\$(?:(\w+)|\{(\w+)(?:(:?-)([^${}` + "`" + `]*))?\})$`)

// newValue returns the value that a word is.
func newValue(word string, at plan.Place) Value {
	v := Value{Text: word, Place: at}
	if !strings.ContainsAny(word, "$`") {
		return v
	}
	m := variable.FindStringSubmatch(word)
	if m == nil {
		return Value{IsUnknown: true, Place: at}
	}
	v.Text, v.Variable, v.HasDefault = m[1]+m[5], m[2]+m[3], m[4] != ""
	return v
}

// Processes are those of an app that may serve gRPC.
type Processes []started

// started is what the command line of a process gives.
type started struct {
	words     []string // those that may name a program, without directories
	arguments []Value  // those of the last program
	flags     map[string][]Value
	variables map[string][]Value
}

// Started returns what the command lines of the processes give that may serve gRPC.
func Started(text []byte) Processes {
	var all Processes
	for _, p := range Serving(Read(text)) {
		s := started{flags: map[string][]Value{}, variables: map[string][]Value{}}
		for _, command := range commands(p.Command) {
			s.read(command, plan.Place{Path: Name, Line: p.Line})
		}
		all = append(all, s)
	}
	return all
}

// Words splits a command line as a shell does, or at spaces if a quote is not closed. The command that a shell is given
// in one word is several.
func Words(command string) []string {
	command = shortened(command)
	words, err := shellquote.Split(command)
	if err != nil {
		return strings.Fields(command)
	}
	return strings.Fields(strings.Join(words, " "))
}

// shortened returns a command line as far as it is read, without a word that would not be whole.
func shortened(command string) string {
	if len(command) <= maxCommand {
		return command
	}
	return command[:strings.LastIndexAny(command[:maxCommand+1], " \t")+1]
}

// commands returns the words of each command in a line.
func commands(line string) [][]string {
	var all [][]string
	var command []string
	words := Words(line)
	for _, word := range words[:min(len(words), maxWords)] {
		last := strings.TrimRight(word, ";&|")
		if last != "" {
			command = append(command, last)
		}
		if last != word {
			all, command = append(all, command), nil
		}
	}
	return append(all, command)
}

// prefixes are words before the name of a program.
var prefixes = []string{"exec", "env", "command", "nohup", "export"}

var assignment = lazyregexp.New(`^([A-Za-z_]\w*)=(.*)$`)

// read adds what one command gives.
func (s *started) read(command []string, at plan.Place) {
	for len(command) > 0 {
		m := assignment.FindStringSubmatch(command[0])
		if m != nil {
			s.variables[m[1]] = append(s.variables[m[1]], newValue(m[2], at))
		} else if !slices.Contains(prefixes, command[0]) {
			break
		}
		command = command[1:]
	}
	if len(command) == 0 {
		return
	}
	s.arguments = nil
	for i, word := range command {
		if i > 0 {
			s.arguments = append(s.arguments, newValue(word, at))
		}
		if !strings.HasPrefix(word, "-") {
			s.words = append(s.words, path.Base(word))
			continue
		}
		name, text, isGiven := strings.Cut(strings.TrimLeft(word, "-"), "=")
		v := newValue(text, at)
		switch isNext := i+1 < len(command) && !strings.HasPrefix(command[i+1], "-"); {
		case isGiven:
		case isNext:
			v = newValue(command[i+1], at)
			v.IsNext = true
		default:
			v.Text = "true"
		}
		s.flags[name] = append(s.flags[name], v)
	}
}

// Names reports whether the command line of a process has a word, such as the name of a program.
func (ps Processes) Names(word string) bool {
	return slices.ContainsFunc(ps, func(s started) bool { return slices.Contains(s.words, word) })
}

// Files returns the words, and the values of flags, that may name files: they have an extension.
func (ps Processes) Files() []string {
	var all []string
	for _, s := range ps {
		for _, v := range s.arguments {
			_, text, _ := strings.Cut(v.Text, "=")
			if file := cmp.Or(text, v.Text); path.Ext(file) != "" {
				all = append(all, file)
			}
		}
	}
	return all
}

// Flag returns what the command lines give a flag, whose name has no dashes, and whether one does. If they give
// different values, it is unknown.
func (ps Processes) Flag(name string) (Value, bool) {
	return ps.one(func(s started) []Value { return s.flags[name] })
}

// Variable returns what the command lines assign to an environment variable, and whether one does.
func (ps Processes) Variable(name string) (Value, bool) {
	return ps.one(func(s started) []Value { return s.variables[name] })
}

// Argument returns an argument of the program that is started last, the first one by 1, and whether it has so many.
func (ps Processes) Argument(number int) (Value, bool) {
	return ps.one(func(s started) []Value {
		if number < 1 || number > len(s.arguments) {
			return nil
		}
		return s.arguments[number-1 : number]
	})
}

// Flags returns the names of the flags that the command lines give.
func (ps Processes) Flags() []string {
	return ps.keys(func(s started) map[string][]Value { return s.flags })
}

// Variables returns the names of the environment variables that the command lines assign.
func (ps Processes) Variables() []string {
	return ps.keys(func(s started) map[string][]Value { return s.variables })
}

// keys returns the names of what the processes give, each once.
func (ps Processes) keys(of func(s started) map[string][]Value) []string {
	all := map[string]bool{}
	for _, s := range ps {
		for name := range of(s) {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// one returns the one value that all processes give which give any.
func (ps Processes) one(of func(s started) []Value) (Value, bool) {
	var all []Value
	for _, s := range ps {
		all = append(all, of(s)...)
	}
	if len(all) == 0 {
		return Value{}, false
	}
	first := all[0]
	for _, v := range all {
		if v.Text != first.Text || v.Variable != first.Variable {
			first = Value{IsUnknown: true, Place: first.Place}
		}
	}
	return first, true
}
