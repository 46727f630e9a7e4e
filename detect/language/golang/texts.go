package golang

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// text is one that an expression may be. What is not known of it is "${NAME}" for an environment variable, "${-}" for
// an option of the command line, and "${?}" for all else.
type text struct {
	s  string
	at plan.Place // where its end stands
}

const (
	givenByOption = "${-}"
	notKnown      = "${?}"
)

const (
	// maxTexts is how many texts an expression may be, and maxText how long one is that may be an address.
	maxTexts = 12
	maxText  = 300
)

var unknown = []text{{s: notKnown}}

var (
	// passesOn are functions whose result is their first argument in another form, and methods whose result is their
	// object.
	passesOn = source.Exactly(`Itoa|Atoi|Format(?:Int|Uint)|Parse(?:Int|Uint)|Sprint|string|u?int\d*|TrimSpace|` +
		`String|Get|(?:Trim|Cut)(?:Prefix|Suffix|Left|Right)?`)
	getsOption   = source.Exactly(`(?:Get)?(?:Int|Uint|String)(?:8|16|32|64)?`)
	asksForEnv   = lazyregexp.New(`(?i)env|ordefault|getor|withdefault`)
	variableName = source.Exactly(`[A-Z][A-Z0-9_]{2,}`)
)

// texts returns what an expression may be.
func (v *values) texts(x expression, depth int) []text {
	if v.left--; v.left < 0 || depth > maxDepth || x.Expr == nil {
		return unknown
	}
	at := x.in.place(x.Expr)
	next := func(e ast.Expr) []text { return v.texts(expression{x.in, e}, depth+1) }
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.BasicLit:
		if s, ok := syntax.StringLiteral(e); ok {
			return []text{{s, at}}
		} else if e.Kind == token.INT {
			return []text{{strings.ReplaceAll(e.Value, "_", ""), at}}
		}
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return next(e.X)
		}
	case *ast.BinaryExpr:
		number, _ := e.Y.(*ast.BasicLit)
		isCalculated := e.Op != token.ADD || number != nil && number.Kind == token.INT
		if a := next(e.X); !isCalculated && !areNumbers(a) {
			return joined(a, next(e.Y))
		}
	case *ast.CompositeLit:
		if port := syntax.Element(e, "Port"); port != nil && syntax.LastName(e.Type) == "TCPAddr" {
			host := ":"
			if syntax.Element(e, "IP") != nil {
				host = notKnown + ":"
			}
			return joined([]text{{host, at}}, next(port))
		}
	case *ast.SliceExpr:
		return next(e.X)
	case *ast.IndexExpr:
		if syntax.Name(e.X) == "os.Args" {
			return []text{{givenByOption, at}}
		}
	case *ast.CallExpr:
		return v.textsOfCall(x.in, e, depth)
	case *ast.StarExpr:
		return next(e.X)
	case *ast.Ident, *ast.SelectorExpr:
		return v.textsOfName(v.key(x.in, x.Expr), v.valuesOf(x), depth)
	}
	return unknown
}

func areNumbers(all []text) bool {
	isOther := func(t text) bool { return strings.Trim(t.s, "0123456789") != "" || t.s == "" }
	return len(all) > 0 && !slices.ContainsFunc(all, isOther)
}

// textsOfName returns the texts of what a name is given. One that is made of what it was before adds none.
func (v *values) textsOfName(key any, all []given, depth int) []text {
	if v.active[key] {
		return nil
	}
	v.active[key] = true
	defer delete(v.active, key)
	return v.textsGiven(all, depth)
}

// textsGiven returns the texts of what a name is given.
func (v *values) textsGiven(all []given, depth int) []text {
	var texts []text
	isFlag := slices.ContainsFunc(all, func(g given) bool { return g.isDefault })
	for _, g := range all {
		if g.isOption {
			texts = append(texts, text{s: givenByOption})
		}
		call, isCall := g.Expr.(*ast.CallExpr)
		switch {
		case g.result == pointed && isFlag: // the flag has the pointer
		case g.result == pointed:
			texts = append(texts, unknown...)
		case isCall && g.result > 0:
			texts = append(texts, v.textsGiven(v.results(g.in, call, g.result), depth+1)...)
		default:
			texts = append(texts, v.texts(g.expression, depth+1)...)
		}
	}
	return distinct(texts)
}

// textsOfCall returns what a call returns.
func (v *values) textsOfCall(in *unit, call *ast.CallExpr, depth int) []text {
	fun := syntax.Called(call)
	name, args := syntax.LastName(fun), call.Args
	next := func(e ast.Expr) []text { return v.texts(expression{in, e}, depth+1) }
	var first []text
	if len(args) > 0 && name != "Sprintf" {
		first = next(args[0])
	}
	isNamed := len(first) == 1
	m := flag.FindStringSubmatch(name)
	switch {
	case isNamed && asksForEnv.MatchString(syntax.Name(fun)) && variableName.MatchString(first[0].s):
		found := []text{{"${" + first[0].s + "}", in.place(call)}}
		if len(args) > 1 {
			found = append(found, next(args[len(args)-1])...)
		}
		return found
	case name == "Sprintf" && len(args) > 0:
		return formatted(next(args[0]), args[1:], next)
	case name == "JoinHostPort" && len(args) == 2:
		return joined(joined(first, []text{{s: ":"}}), next(args[1]))
	case name == "ResolveTCPAddr" && len(args) == 2:
		return next(args[1])
	case name == "Or" && path.Base(in.PathOf(fun)) == "cmp":
		for _, arg := range args[1:] {
			first = append(first, next(arg)...)
		}
		return distinct(first)
	case m != nil && in.PathOf(fun) != "" && len(args) > 2+len(m[2]): // flag.Int("port", 50051, "")
		return append(next(args[1+len(m[2])]), text{givenByOption, in.place(call)})
	case isNamed && len(args) == 1 && getsOption.MatchString(name) && v.given[option(first[0].s)] != nil:
		return v.textsOfName(option(first[0].s), v.given[option(first[0].s)], depth)
	case v.results(in, call, 0) != nil:
		return v.textsGiven(v.results(in, call, 0), depth)
	case passesOn.MatchString(name) && len(args) > 0:
		return first
	case passesOn.MatchString(name):
		if method, ok := fun.(*ast.SelectorExpr); ok {
			return next(method.X)
		}
	}
	return unknown
}

// verb is one of a format.
var verb = lazyregexp.New(`%[+]?[dsvq]`)

// formatted returns what a format makes of its arguments.
func formatted(formats []text, args []ast.Expr, next func(ast.Expr) []text) []text {
	if len(formats) != 1 {
		return unknown
	}
	parts := verb.Split(formats[0].s, -1)
	if len(parts) != len(args)+1 {
		return unknown
	}
	all := []text{{parts[0], formats[0].at}}
	for i, arg := range args {
		all = joined(joined(all, next(arg)), []text{{s: parts[i+1]}})
	}
	return all
}

// joined returns all texts that one and another one are together.
func joined(all, others []text) []text {
	var both []text
	for _, a := range all {
		for _, b := range others {
			if len(a.s)+len(b.s) > maxText {
				return unknown
			}
			at := b.at
			if b.s == "" || at == (plan.Place{}) {
				at = a.at
			}
			both = append(both, text{a.s + b.s, at})
		}
	}
	if both == nil { // one is made of what it was before
		return nil
	}
	return distinct(both)
}

// distinct returns each text once. Nothing, or too many, are not known.
func distinct(all []text) []text {
	var kept []text
	for _, t := range all {
		if !slices.ContainsFunc(kept, func(k text) bool { return k.s == t.s }) {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 || len(kept) > maxTexts {
		return unknown
	}
	return kept
}
