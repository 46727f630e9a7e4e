// Package values tells which address an expression of an app states, which call makes a value, and which credentials a
// server is given. A port is seldom written where a server listens on it: it comes from constants, fields, parameters,
// defaults of flags and of environment variables, in other files and other packages.
//
// [Sources.Parse] takes files, whose declarations declarations.go, flags.go and settings.go collect. [Sources.Address]
// evaluates an expression (evaluate.go, functions.go), by following names to what they are declared with (origins.go,
// parameters.go, fields.go, tags.go, types.go). [Sources.Made] follows a value to the call that makes it (made.go), and
// [Sources.Security] the options of a server to its credentials (leaves.go, security.go, tls.go) with the conditions
// of each (conditions.go, branches.go). What is not known stays unknown: no other value takes its place.
//
// No types are checked: what a dependency declares is not in the app. A name is followed if its syntax tells what it
// means, and is not known otherwise.
package values

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Sources are parsed sources of an app and what they declare.
type Sources struct {
	// lookup returns the directory of the package with an import path. It reports whether it is in the app.
	lookup func(importPath string) (dir string, ok bool)

	values     map[symbol][]expression              // what variables and constants of packages get
	types      map[symbol]typeOfApp                 // named types, and the stated types of variables
	functions  map[symbol]*function                 // a method M of a type T has the name T.M
	takers     map[symbol][]*function               // functions whose last parameter takes several of a type, by that
	locals     map[*syntax.Declaration][]expression // what variables of functions are declared with and get
	parameters map[*ast.Field]*function
	results    map[*ast.Field]bool // the named results of functions
	// callbacks are functions that are written in calls, by their parameters.
	callbacks  map[*ast.Field]callback
	calls      map[symbol][]expression // calls; those of methods have no directory
	passed     map[symbol][]expression // the same, of what calls are passed, as if it were called there
	literals   map[symbol][]expression // composite literals, by type
	fields     map[string][]assignment // what fields get, by name
	pointed    []pointed               // until all files are there
	defaults   []namedDefault          // of flags and settings, until all files are there
	flags      map[string][]expression // the defaults of flags, by the flag's name
	settings   map[string][]expression // the defaults of settings, by key in small letters: grpc.port
	loaded     map[string][]expression // the settings of files that the sources name, by key
	bound      bindings
	modules    map[string]bool // the directories of modules
	named      map[string]bool // the names of settings files in the sources, and of their folders with "/"
	started    map[string]bool // the settings files that the command lines of processes name
	calculated []expression    // those of viper, until all files are there
	folders    []expression    // whose files kratos loads, until all files are there

	holders map[*ast.StructType][]heldBy // see holdersOf
	// givenOptions says of options whether the app always gives them: see isGiven.
	givenOptions map[givenBy]bool

	// program is the directory of the one program that counts, and within says which directories it is made of: see
	// Within.
	program string
	within  func(dir string) bool

	processes procfile.Processes
	short     map[string]string // the short names of flags, by the long ones

	evaluating map[evaluation]bool
	typed      map[evaluation]typeOfApp // the types of expressions that are known: see typeOf

	evaluated        int                    // how many expressions were evaluated for one port
	executedBranches map[branchOfCall]truth // see branchIsExecuted
	total            int                    // and for all
}

// MaxParsed is how many bytes of sources are parsed to find the ports of an app. Few apps have as many in the files
// that are worth it.
const MaxParsed = 8 << 20

// NewSources returns sources to which files and settings are to be added. lookup returns the directory of the package
// with an import path, and whether it is in the app.
func NewSources(lookup func(importPath string) (dir string, ok bool)) *Sources {
	return &Sources{
		lookup: lookup, values: map[symbol][]expression{}, types: map[symbol]typeOfApp{},
		functions: map[symbol]*function{}, takers: map[symbol][]*function{},
		locals:     map[*syntax.Declaration][]expression{},
		parameters: map[*ast.Field]*function{}, callbacks: map[*ast.Field]callback{},
		results: map[*ast.Field]bool{}, modules: map[string]bool{},
		calls: map[symbol][]expression{}, passed: map[symbol][]expression{},
		literals: map[symbol][]expression{}, fields: map[string][]assignment{}, flags: map[string][]expression{},
		settings: map[string][]expression{}, loaded: map[string][]expression{}, named: map[string]bool{},
		started: map[string]bool{}, short: map[string]string{}, givenOptions: map[givenBy]bool{},
		evaluating: map[evaluation]bool{}, executedBranches: map[branchOfCall]truth{},
		typed: map[evaluation]typeOfApp{}, bound: bindings{
			named: map[string]string{}, automatic: map[string]bool{}, programs: map[string]bool{},
			holdPrograms: map[string]bool{},
		},
	}
}

// Parse adds a file, and returns it. It returns nil for a text that is not Go.
func (s *Sources) Parse(file string, text []byte) *Source {
	parsed, err := syntax.Parse(text, 0)
	if err != nil {
		return nil
	}
	f := &Source{File: parsed, path: file, dir: path.Dir(file), fallbacks: map[token.Pos]bool{}}
	if parsed.Name.Name == "main" {
		aside, _ := tree.Aside(file)
		f.isAside = aside != ""
		s.bound.programs[f.dir] = true
		for dir := f.dir; dir != "." && !s.bound.holdPrograms[dir]; dir = path.Dir(dir) {
			s.bound.holdPrograms[dir] = true
		}
	}
	s.bound.envconfig = s.bound.envconfig || f.Imports.AnyMatches(envconfigLibrary)
	s.bound.aconfig = s.bound.aconfig || f.Imports.Has("github.com/cristalhq/aconfig")
	s.declare(f)
	return f
}

// symbol is a name that a package declares.
type symbol struct{ dir, name string }

// Source is one parsed file.
type Source struct {
	*syntax.File
	path, dir string
	isAside   bool // it is of a program beside the app proper, in its tools, examples or tests
	loadsFile bool // a call of koanf's that was seen loads a file
	branches  []branch
	options   []option
	nevers    []never
	fallbacks map[token.Pos]bool // where values stand that are assigned to what has none: see [Source.declareFallbacks]
}

// expression is an expression in a file.
type expression struct {
	ast.Expr
	in *Source
	// call is the call by which the function was entered that the expression is in, or nil: its arguments are the
	// values of the parameters.
	call *frame
	// result is which result is meant of a call that has several.
	result int
	// gets says when the value of this expression is got by what the expression is an origin of.
	gets when
	// constant is a value that no expression has, such as the default in a tag; nil for others.
	constant *value
	// setting is what may replace the value of the expression: see [value].
	setting string
}

// when says when a variable, a field or a parameter gets a value.
type when int

const (
	// initially is a declaration, or the default of an option.
	initially when = iota
	// alternatively is by one of several calls, or in one of several structs.
	alternatively
	// always is an assignment that nothing in its function is a condition of.
	always
	// sometimes is an assignment under a condition.
	sometimes
	// otherwise is an assignment under the condition that there is no value yet.
	otherwise
	// instead is by an option that the app gives, after the struct has its defaults.
	instead
)

// frame is a call of a function.
type frame struct {
	function *function
	call     expression
}

// function is a function or a method of the app.
type function struct {
	decl    *ast.FuncDecl
	in      *Source
	returns []*ast.ReturnStmt // known once they are asked for
}

// assignment is what a field gets.
type assignment struct {
	field *ast.SelectorExpr
	value expression
}

// with returns another expression of the same file and call.
func (x expression) with(e ast.Expr) expression {
	return expression{Expr: e, in: x.in, call: x.call}
}

// place returns where an expression stands.
func (x expression) place() plan.Place {
	return plan.Place{Path: x.in.path, Line: x.in.Line(x)}
}

// value is the text that an expression may have for its value, and where it is written. A number is returned as text.
type value struct {
	text     string
	isNumber bool
	// isPartial says that a part of the text is that of a setting which has no default.
	isPartial bool
	at        plan.Place
	// setting is what may replace the value when the app runs: "$PORT", "flag -port", "the setting grpc.port"; "" for a
	// value that nothing replaces.
	setting string
	// isGiven says that the command line of a process gives it, before which nothing goes.
	isGiven bool
}

// unknownPart is a value that is not known, and stands in a text for a part that is not, such as a host.
const unknownPart = "\x00"

// unknown is the value of an expression that the sources do not state.
var unknown = []value{{text: unknownPart}}

// unset is the value of an option that has no default, of which the name is known, and of what reads it.
func unset(setting string, at plan.Place) value { return value{setting: setting, at: at} }

// replaceable returns values that a setting may replace when the app runs. Of a flag and an environment variable, which
// are set in one place or the other, the variable is named, because the probe can read it.
func replaceable(values []value, setting string) []value {
	if setting == "" {
		return values
	}
	all := slices.Clone(values)
	for i := range all {
		switch of := &all[i]; {
		case of.isGiven:
		case strings.HasPrefix(of.setting, "flag ") && strings.HasPrefix(setting, "$"):
			of.setting = setting
		default:
			of.setting = either(of.setting, setting)
		}
	}
	return all
}

func (v value) isUnknown() bool { return strings.Contains(v.text, unknownPart) }

// isSet reports whether a value stands for more than what is not set, as an empty text and the number 0 do.
func (v value) isSet() bool { return v.text != "" && v.text != "0" }
