package values

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// branch is a part of a file that is executed if a condition holds: that of an if, of a case, or of an if before it
// that returns.
type branch struct {
	from, to  token.Pos
	condition ast.Expr
	isNot     bool
	tag       ast.Expr // of a switch, which is one of the cases
	cases     []ast.Expr
	returned  bool // before it, if the condition does not hold
}

// branchesOfIf returns the branches of an if.
func (f *Source) branchesOfIf(n *ast.IfStmt) []branch {
	found := []branch{{from: n.Body.Pos(), to: n.Body.End(), condition: n.Cond}}
	if n.Else != nil {
		found = append(found, branch{from: n.Else.Pos(), to: n.Else.End(), condition: n.Cond, isNot: true})
	} else if returnsValue(n.Body) {
		end := f.BlockEnd(n.Pos())
		found = append(found, branch{from: n.End(), to: end, condition: n.Cond, isNot: true, returned: true})
	}
	return found
}

// branchesOfSwitch returns the branches of a switch that has a tag.
func branchesOfSwitch(n *ast.SwitchStmt) []branch {
	var found []branch
	for _, clause := range n.Body.List {
		if c, ok := clause.(*ast.CaseClause); ok && n.Tag != nil {
			found = append(found, branch{from: c.Colon, to: c.End(), tag: n.Tag, cases: c.List})
		}
	}
	return found
}

// returnsValue reports whether a block ends with a return that is not for an error, or with log.Fatal(server.Serve()).
func returnsValue(block *ast.BlockStmt) bool {
	if len(block.List) == 0 {
		return false
	}
	switch last := block.List[len(block.List)-1].(type) {
	case *ast.ReturnStmt:
		return !returnsError(last)
	case *ast.ExprStmt:
		fatal, ok := last.X.(*ast.CallExpr)
		if !ok || len(fatal.Args) != 1 {
			return false
		}
		serve, ok := fatal.Args[0].(*ast.CallExpr)
		return ok && strings.Contains(syntax.LastName(serve.Fun), "Serve")
	}
	return false
}

// namedError is the name of an error, or of a function that makes one: ErrClosed, logErr, Errorf.
var namedError = regexp.MustCompile(`^err|Err`)

// returnsError reports whether the last of the results of a return is an error.
func returnsError(r *ast.ReturnStmt) bool {
	if len(r.Results) == 0 {
		return false
	}
	switch last := ast.Unparen(r.Results[len(r.Results)-1]).(type) {
	case *ast.Ident:
		return len(r.Results) > 1 && last.Name != "nil" || namedError.MatchString(last.Name)
	case *ast.SelectorExpr:
		return namedError.MatchString(last.Sel.Name)
	case *ast.CallExpr:
		name := syntax.Name(last.Fun)
		return strings.HasPrefix(name, "errors.") || namedError.MatchString(syntax.LastName(last.Fun))
	}
	return false
}

// branchesAtOnce is how many branches are looked at in the time of an evaluation.
const branchesAtOnce = 50

// executed says whether what stands at a position is executed, if a position of the same file is that uses it, or
// none. What returned before counts only for what is used elsewhere.
func (s *Sources) executed(in expression, at, use token.Pos, nesting int) truth {
	t := truth{}
	s.evaluated += len(in.in.branches) / branchesAtOnce
	s.total += len(in.in.branches) / branchesAtOnce
	for _, b := range in.in.branches {
		holds := func(pos token.Pos) bool { return b.from <= pos && pos < b.to }
		if !holds(at) || use.IsValid() && (holds(use) || b.returned) {
			continue
		}
		if b.tag != nil {
			t = t.and(s.oneOf(in, b.tag, b.cases, nesting))
			continue
		}
		c := s.condition(in.with(b.condition), nesting+1)
		if b.isNot {
			c = c.not()
		}
		t = t.and(c)
	}
	return t
}

// oneOf says whether a tag is one of several cases; none stand for the default.
func (s *Sources) oneOf(in expression, tag ast.Expr, cases []ast.Expr, nesting int) truth {
	t := truth{holds: no}
	for _, c := range cases {
		is := s.equals(in.with(tag), in.with(c), nesting)
		if is.holds == yes {
			return is
		}
		t = truth{max(t.holds, is.holds), either(t.setting, is.setting)}
	}
	if len(cases) == 0 {
		return truth{maybe, s.settingNamed(in.with(tag))}
	}
	return t
}
