package values

import (
	"go/ast"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// namedLikeFlags are packages in the place of flag whose flags have environment variables of their names in
	// capital letters.
	namedLikeFlags = source.Exactly(`github\.com/(?:namsral|jnovack)/flag`)
	// variableFlags are packages whose flags are environment variables.
	variableFlags = source.Exactly(`.*/envflag(?:/v\d+)?`)
	// ffLibrary reads the flags of package flag from the environment too, by an option.
	ffLibrary = source.Exactly(`github\.com/peterbourgon/ff(?:/v\d+)?`)
)

// inVariables replaces what a flag's name has and no variable's does.
var inVariables = strings.NewReplacer("-", "_", ".", "_", "/", "_")

// flagPrefix is what begins the names of the variables of the flags in a directory.
type flagPrefix struct {
	dir    string
	prefix expression // without an expression, there is none
}

// declareFlagPrefix adds the option of ff that reads flags from the environment: ff.WithEnvVarPrefix("SHOP"),
// ff.WithEnvVars().
func (s *Sources) declareFlagPrefix(f *Source, call *ast.CallExpr) {
	fun := syntax.Called(call)
	if !ffLibrary.MatchString(f.PathOf(fun)) {
		return
	}
	switch name := syntax.LastName(fun); {
	case name == "WithEnvVarPrefix" && len(call.Args) == 1:
		s.bound.flagPrefixes = append(s.bound.flagPrefixes, flagPrefix{f.dir, expression{Expr: call.Args[0], in: f}})
	case name == "WithEnvVars", name == "WithEnvVarNoPrefix":
		s.bound.flagPrefixes = append(s.bound.flagPrefixes, flagPrefix{dir: f.dir})
	}
}

// flagOrVariable returns what replaces a flag, as [value] has it: the environment variable that the flag's library
// reads too, if there is one and no command line gives the flag.
func (s *Sources) flagOrVariable(name expression, nesting int) string {
	flag := s.flag(name, nesting)
	if _, isGiven := s.given(flag, name.in); isGiven {
		return flag
	}
	text, ok := s.text(name, nesting)
	if !ok {
		return flag
	}
	variable := s.variableOfFlag(text, name.in)
	if variable == "" || !variableName.MatchString(variable) {
		return flag
	}
	return "$" + variable
}

// variableOfFlag returns the environment variable of a flag that a file defines, or "".
func (s *Sources) variableOfFlag(name string, in *Source) string {
	switch {
	case in.Imports.AnyMatches(variableFlags):
		return name
	case in.Imports.AnyMatches(namedLikeFlags) && s.calls[symbol{name: "NewFlagSetWithEnvPrefix"}] == nil:
		return strings.ToUpper(inVariables.Replace(name))
	case len(s.bound.flagPrefixes) != 1 || !in.Imports.Has("flag"):
		return ""
	}
	of := s.bound.flagPrefixes[0]
	if of.dir != in.dir && len(s.bound.programs) > 1 {
		return ""
	}
	name = strings.ToUpper(inVariables.Replace(name))
	if of.prefix.Expr == nil {
		return name
	}
	prefix, ok := s.text(of.prefix, 0)
	if !ok || prefix == "" {
		return ""
	}
	return strings.ToUpper(inVariables.Replace(prefix)) + "_" + name
}

// settingOfChained returns what replaces the default of a flag of kingpin, as [value] has it.
func (s *Sources) settingOfChained(flag chained, x expression) string {
	setting := flag.setting()
	if _, isGiven := s.given(setting, x.in); isGiven || flag.variable == nil {
		return setting
	}
	if variable, ok := s.text(x.with(flag.variable), 0); ok && variableName.MatchString(variable) {
		return "$" + variable
	}
	return setting
}
