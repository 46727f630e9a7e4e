// Package values tells which port an expression of an app states. A port is seldom written where a server listens on
// it: it comes from constants, fields, parameters, defaults of flags and of environment variables, in other files and
// other packages.
//
// [Sources.Parse] takes files, whose declarations declarations.go, flags.go and settings.go collect. [Sources.Address]
// evaluates an expression (evaluate.go, functions.go), by following names to what they are declared with (origins.go,
// fields.go, types.go). What is not known stays unknown: no other value takes its place.
//
// No types are checked: what a dependency declares is not in the app. A name is followed where its syntax tells what it
// means, and is not known otherwise.
package values

import (
	"go/ast"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Sources are parsed sources of an app and what they declare.
type Sources struct {
	// lookup returns the directory of the package with an import path. It reports whether it is in the app.
	lookup func(importPath string) (dir string, ok bool)

	values     map[symbol][]expression              // what variables and constants of packages get
	types      map[symbol]typeOfApp                 // named types, and the stated types of variables
	functions  map[symbol]*function                 // a method M of a type T has the name T.M
	locals     map[*syntax.Declaration][]expression // what variables of functions are declared with and get
	parameters map[*ast.Field]*function
	calls      map[symbol][]expression // calls; those of methods have no directory
	literals   map[symbol][]expression // composite literals, by type
	fields     map[string][]assignment // what fields get, by name
	defaults   []namedDefault          // of flags and settings, until all files are there
	flags      map[string][]expression // the defaults of flags, by the flag's name
	settings   map[string][]expression // the defaults of settings, by key in small letters: grpc.port
	loaded     map[string][]expression // the settings of files that the sources name, by key
	named      map[string]bool         // the names of settings files in the sources

	evaluating map[evaluation]bool

	evaluated int // how many expressions were evaluated for one port
	total     int // and for all
}

// MaxParsed is how many bytes of sources are parsed to find the ports of an app. Few apps have as many in the files
// that are worth it.
const MaxParsed = 8 << 20

// NewSources returns sources to which files and settings are to be added. lookup returns the directory of the package
// with an import path, and whether it is in the app.
func NewSources(lookup func(importPath string) (dir string, ok bool)) *Sources {
	return &Sources{
		lookup: lookup, values: map[symbol][]expression{}, types: map[symbol]typeOfApp{},
		functions: map[symbol]*function{}, locals: map[*syntax.Declaration][]expression{},
		parameters: map[*ast.Field]*function{}, calls: map[symbol][]expression{},
		literals: map[symbol][]expression{}, fields: map[string][]assignment{}, flags: map[string][]expression{},
		settings: map[string][]expression{}, loaded: map[string][]expression{}, named: map[string]bool{},
		evaluating: map[evaluation]bool{},
	}
}

// Parse adds a file, and returns it. It returns nil for a text that is not Go.
func (s *Sources) Parse(file string, text []byte) *Source {
	parsed, err := syntax.Parse(text, 0)
	if err != nil {
		return nil
	}
	f := &Source{File: parsed, path: file, dir: path.Dir(file)}
	s.declare(f)
	return f
}

// Address returns the address that an expression of a source states, and where it is written. Its certainty is
// [address.Unknown] if the expression states none or several that a probe can reach, or may have a value that is not
// known. Any other is called [address.Written], also if an option may replace it.
func (s *Sources) Address(in *Source, e ast.Expr) address.Address {
	s.nameDefaults()
	s.evaluated = 0
	var one address.Address
	for _, v := range s.evaluate(expression{Expr: e, in: in}, 0) {
		a, isSet := v.address()
		switch {
		case !isSet:
			continue
		case a.Local() == 0 || one.Port != 0 && a.Port != one.Port:
			return address.Address{}
		case one.Port == 0:
			one = a
		case a.Host != one.Host:
			one.Host = address.UnknownHost
		}
	}
	return one
}

// address returns the address that a value is. It reports whether the value is one: that of an option which is not set
// is none.
func (v value) address() (address.Address, bool) {
	colon := strings.LastIndexByte(v.text, ':')
	port := v.text[colon+1:]
	if strings.Contains(v.text[:colon+1], unknownPart) {
		v.text = port // whatever its host is
	}
	a := address.Parse(address.TrimScheme(v.text))
	a.Place = v.at
	return a, port != ""
}

// symbol is a name that a package declares.
type symbol struct{ dir, name string }

// Source is one parsed file.
type Source struct {
	*syntax.File
	path, dir string
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
	at       plan.Place
}

// unknownPart is a value that is not known, and stands in a text for a part that is not, such as a host.
const unknownPart = "\x00"

var (
	// unknown is the value of an expression that the sources do not state.
	unknown = []value{{text: unknownPart}}
	// unset is the value of an option that has no default: an environment variable, a flag, a setting.
	unset = []value{{}}
)

func (v value) isUnknown() bool { return strings.Contains(v.text, unknownPart) }

// isZero reports whether a value stands for what is not set, as an empty text and the number 0 do.
func (v value) isZero() bool { return v.text == "" || v.text == "0" }
