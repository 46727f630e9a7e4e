package values

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
)

// AddProcesses adds what the command lines of the app's processes give to flags, environment variables and arguments,
// and the settings files that they name. It goes before the settings and the first address. A process that executes a
// source of another language gives Go nothing.
func (s *Sources) AddProcesses(ps procfile.Processes) {
	for i := range ps {
		one := address.Process{Processes: ps[i : i+1]}
		if _, ofInterpreter := one.Program(); ofInterpreter == 0 {
			s.processes = append(s.processes, ps[i])
		}
	}
	for _, file := range s.processes.Files() {
		s.named[path.Base(file)], s.started[path.Clean(file)] = true, true
	}
}

// orGiven returns the value that a command line gives a setting, as [value] has it, which a source reads, or else the
// values that it has otherwise and that the setting may replace.
func (s *Sources) orGiven(values []value, setting string, in *Source) []value {
	given, ok := s.given(setting, in)
	switch {
	case !ok:
		return replaceable(values, setting)
	case given.IsNext && len(values) > 0 && !slices.ContainsFunc(values, isNoTruth):
		return []value{{text: "true", at: given.Place, isGiven: true}} // the next word is an argument of its own
	}
	return []value{newGiven(given)}
}

func isNoTruth(v value) bool { return v.text != "true" && v.text != "false" }

func newGiven(v procfile.Value) value {
	switch {
	case v.IsUnknown:
		return value{text: unknownPart, at: v.Place, isGiven: true}
	case v.Variable == "":
		return value{text: v.Text, at: v.Place, isGiven: true}
	}
	return value{
		text: v.Text, at: v.Place, isGiven: true, isPartial: !v.HasDefault && v.Text != "", setting: "$" + v.Variable,
	}
}

// given returns what a command line gives a setting that a source reads.
func (s *Sources) given(setting string, in *Source) (procfile.Value, bool) {
	if len(s.processes) == 0 || in != nil && !s.isStarted(in.dir) {
		return procfile.Value{}, false
	}
	if variable, ok := strings.CutPrefix(setting, "$"); ok {
		return s.processes.Variable(variable)
	}
	flag, ok := strings.CutPrefix(setting, "flag ")
	if !ok {
		return procfile.Value{}, false
	}
	flag = strings.TrimLeft(flag, "-")
	if v, ok := s.processes.Flag(flag); ok || s.short[flag] == "" {
		return v, ok
	}
	return s.processes.Flag(s.short[flag])
}

// isStarted reports whether the command lines may start the program that a directory belongs to: the main package of a
// program that they do not name has flags of its own. Programs have the names of their directories.
func (s *Sources) isStarted(dir string) bool {
	if !s.bound.programs[dir] || len(s.bound.programs) == 1 {
		return true
	}
	for program := range s.bound.programs {
		if s.processes.Names(path.Base(program)) {
			return s.processes.Names(path.Base(dir))
		}
	}
	return dir == "."
}

// givenFlag returns the value that a command line gives the flag of a key, or the flag that viper takes a key from, as
// a directory sees it. Flags go before the environment and before settings files.
func (s *Sources) givenFlag(key, dir string, nesting int) (value, bool) {
	if len(s.processes) == 0 {
		return value{}, false
	}
	bound := append(slices.Clip(s.settings[strings.ToLower(key)]), s.flags[key]...)
	if len(bound) > maxOrigins {
		return value{}, false
	}
	for _, flag := range nearest(bound, dir) {
		for _, v := range s.evaluate(flag, nesting+1) {
			if v.isGiven {
				return v, true
			}
		}
	}
	return value{}, false
}

// argument returns the value of an element of os.Args.
func (s *Sources) argument(x expression, e *ast.IndexExpr) []value {
	if index, ok := ast.Unparen(e.Index).(*ast.BasicLit); ok && s.isStarted(x.in.dir) {
		number, err := strconv.Atoi(index.Value)
		if v, ok := s.processes.Argument(number); ok && err == nil {
			return []value{newGiven(v)}
		}
	}
	return []value{unset("the command line", x.place())}
}
