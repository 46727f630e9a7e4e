package values

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// truth says whether something holds by default, and what may change that when the app runs.
type truth struct {
	holds   answer
	setting string // as that of [value]
}

type answer int

const (
	yes answer = iota
	no
	maybe
)

func (t truth) not() truth {
	switch t.holds {
	case yes:
		t.holds = no
	case no:
		t.holds = yes
	}
	return t
}

func (t truth) and(other truth) truth {
	switch {
	case t.holds == no:
		return t
	case other.holds == no:
		return other
	}
	both := truth{yes, either(t.setting, other.setting)}
	switch {
	case t.holds == maybe:
		both = truth{maybe, either(t.setting, other.setting)}
	case other.holds == maybe:
		both = truth{maybe, either(other.setting, t.setting)}
	}
	return both
}

// condition says whether a condition holds.
func (s *Sources) condition(x expression, nesting int) truth {
	if s.spend(nesting) {
		return truth{holds: maybe}
	}
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return s.condition(x.with(e.X), nesting+1).not()
		}
	case *ast.BinaryExpr:
		return s.binaryCondition(x, e, nesting)
	case *ast.Ident, *ast.SelectorExpr:
		if named := s.namedCondition(x, nesting); named.Expr != nil {
			return s.condition(named, nesting+1)
		}
	case *ast.CallExpr:
		if syntax.LastName(e.Fun) == "IsSet" && len(e.Args) == 1 && x.in.Imports.AnyMatches(settingsLibrary) {
			return s.isSet(x, e, nesting)
		}
		if fn := s.callee(x, nesting+1); fn != nil && fn.decl.Body != nil {
			if from, ok := s.returned(fn, x); ok && len(from) == 1 {
				return s.condition(from[0], nesting+1)
			}
		}
	}
	return s.truthOf(x, nesting, func(text string) bool { return text == "true" || text == "1" })
}

// namedCondition returns the condition that a variable or a field is, if it always is this one: insecure :=
// config.Certificate == "". It has no expression for others.
func (s *Sources) namedCondition(x expression, nesting int) expression {
	named := s.onlyOrigin(x, nesting+1)
	if named.constant != nil || named.gets == sometimes || named.gets == otherwise {
		return expression{}
	}
	switch e := ast.Unparen(named.Expr).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return named
		}
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return named
		}
	}
	return expression{}
}

// isSet says whether viper has a value for a key that is not the default of a flag.
func (s *Sources) isSet(x expression, call *ast.CallExpr, nesting int) truth {
	key, ok := s.text(x.with(call.Args[0]), nesting)
	if !ok {
		return truth{holds: maybe}
	}
	if s.loadedFor(key, x.in.dir) != nil {
		return truth{}
	}
	t := truth{no, s.settingOrVariable(key, x.in.dir)}
	for _, d := range nearest(append(s.settings[strings.ToLower(key)], s.flags[key]...), x.in.dir) {
		for _, v := range s.evaluate(d, nesting+1) {
			t.setting = either(v.setting, t.setting)
		}
	}
	return t
}

func (s *Sources) binaryCondition(x expression, e *ast.BinaryExpr, nesting int) truth {
	left, right := x.with(e.X), x.with(e.Y)
	switch e.Op {
	case token.LAND:
		return s.condition(left, nesting+1).and(s.condition(right, nesting+1))
	case token.LOR:
		return s.condition(left, nesting+1).not().and(s.condition(right, nesting+1).not()).not()
	case token.EQL:
		return s.equals(left, right, nesting)
	case token.NEQ, token.GTR:
		return s.equals(left, right, nesting).not()
	}
	return truth{holds: maybe}
}

// equals says whether two values are the same, of which the second one is a literal, as are nil and the zero that a
// length is compared with.
func (s *Sources) equals(left, right expression, nesting int) truth {
	if syntax.Name(ast.Unparen(right.Expr)) == "nil" {
		if name := syntax.LastName(left.Expr); strings.HasPrefix(name, "err") || strings.HasSuffix(name, "Err") {
			return s.isNoError(left, nesting)
		}
		return s.isNil(left, nesting)
	}
	want, ok := s.text(right, nesting)
	if !ok {
		return truth{holds: maybe}
	}
	if call, ok := ast.Unparen(left.Expr).(*ast.CallExpr); ok && syntax.Name(call.Fun) == "len" && len(call.Args) == 1 {
		return s.truthOf(left.with(call.Args[0]), nesting, func(text string) bool { return want == "0" && text == "" })
	}
	return s.truthOf(left, nesting, func(text string) bool { return text == want || text == "" && want == "false" })
}

// truthOf says whether something is true of all values that an expression may have.
func (s *Sources) truthOf(x expression, nesting int, is func(text string) bool) truth {
	values := s.evaluate(x, nesting+1)
	if len(values) == 0 {
		return truth{maybe, s.settingNamed(x)}
	}
	t := truth{holds: no}
	if is(values[0].text) {
		t.holds = yes
	}
	for _, v := range values {
		if v.isUnknown() || is(v.text) != (t.holds == yes) {
			return truth{maybe, either(t.setting, v.setting, s.settingNamed(x))}
		}
		t.setting = either(t.setting, v.setting)
	}
	if named := s.settingNamed(x); t.setting == someVariable && strings.Contains(named, ".") {
		t.setting = named
	}
	return t
}

// findsFile is a function that returns an error if a file is not there.
var findsFile = source.Exactly(`os\.(?:Stat|Lstat|Open|ReadFile)|io/ioutil\.ReadFile|` +
	`crypto/tls\.LoadX509KeyPair|google\.golang\.org/grpc/credentials\.NewServerTLSFromFile`)

// isNoError says whether an error is nil. It is, unless a file decides.
func (s *Sources) isNoError(x expression, nesting int) truth {
	var last expression
	origins, _ := s.origins(x, nesting)
	for _, from := range origins {
		isBefore := from.in == x.in && from.Expr != nil && from.Pos() < x.Pos()
		if isBefore && (last.Expr == nil || from.Pos() > last.Pos()) {
			last = from
		}
	}
	if last.Expr == nil {
		return truth{}
	}
	call, ok := ast.Unparen(last.Expr).(*ast.CallExpr)
	if !ok || !findsFile.MatchString(last.in.Qualified(call)) || len(call.Args) == 0 {
		return truth{}
	}
	file := last.with(call.Args[0])
	if name, ok := s.text(file, nesting); ok && name != "" {
		return truth{maybe, "the file " + strings.TrimSpace(name)}
	}
	decides := truth{maybe, inSource}
	for _, v := range s.evaluate(file, nesting+1) {
		decides.setting = either(decides.setting, v.setting)
	}
	return decides
}
