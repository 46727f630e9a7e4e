package values

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
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
	}
	after := branch{from: n.End(), to: f.BlockEnd(n.Pos()), condition: n.Cond, returned: true}
	otherwise, _ := n.Else.(*ast.BlockStmt)
	switch {
	case n.Else == nil && breaksOff(n.Body.List):
		after.isNot = true
		found = append(found, after)
	case otherwise != nil && breaksOff(otherwise.List):
		found = append(found, after)
	}
	return found
}

// branchesOfSwitch returns the branches of a switch. Each case of one without a tag is a condition of its own, and what
// follows a case that returns is executed if that one's condition does not hold.
func (f *Source) branchesOfSwitch(n *ast.SwitchStmt) []branch {
	var found []branch
	var before, all ast.Expr // that a case holds: one of those before this one, or any
	for _, clause := range n.Body.List {
		if c, ok := clause.(*ast.CaseClause); ok && n.Tag == nil {
			all = anyOf(all, c.List)
		}
	}
	for _, clause := range n.Body.List {
		c, ok := clause.(*ast.CaseClause)
		switch {
		case !ok:
		case n.Tag != nil:
			found = append(found, branch{from: c.Colon, to: c.End(), tag: n.Tag, cases: c.List})
		case len(c.List) == 0 && all != nil:
			found = append(found, branch{from: c.Colon, to: c.End(), condition: all, isNot: true})
		case len(c.List) > 0:
			if before != nil {
				found = append(found, branch{from: c.Colon, to: c.End(), condition: before, isNot: true})
			}
			holds := anyOf(nil, c.List)
			found = append(found, branch{from: c.Colon, to: c.End(), condition: holds})
			if breaksOff(c.Body) {
				end := f.BlockEnd(n.Pos())
				found = append(found, branch{from: n.End(), to: end, condition: holds, isNot: true, returned: true})
			}
			before = anyOf(before, c.List)
		}
	}
	return found
}

// anyOf returns the condition that one of several holds, and nil for none.
func anyOf(first ast.Expr, others []ast.Expr) ast.Expr {
	for _, e := range others {
		if first == nil {
			first = e
			continue
		}
		first = &ast.BinaryExpr{X: first, OpPos: e.Pos(), Op: token.LOR, Y: e}
	}
	return first
}

// breaksOff reports whether statements end with a return that is not for an error, with the next turn of a loop, or
// with log.Fatal(server.Serve()).
func breaksOff(statements []ast.Stmt) bool {
	if len(statements) == 0 {
		return false
	}
	switch last := statements[len(statements)-1].(type) {
	case *ast.ReturnStmt:
		return !returnsError(last)
	case *ast.BranchStmt:
		return last.Tok == token.CONTINUE
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
var namedError = lazyregexp.New(`^err|Err`)

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
	for i := range in.in.branches {
		b := &in.in.branches[i]
		holds := func(pos token.Pos) bool { return b.from <= pos && pos < b.to }
		if !holds(at) || use.IsValid() && (holds(use) || b.returned) {
			continue
		}
		t = t.and(s.branchIsExecuted(in, b, nesting))
	}
	return t
}

// branchOfCall is a branch in the call that leads to it.
type branchOfCall struct {
	*branch
	call *frame
}

// branchIsExecuted says whether a branch is executed. What a list of options gets in one branch after another depends
// on the same conditions each time that it is followed, so that each is evaluated once for one port.
func (s *Sources) branchIsExecuted(in expression, b *branch, nesting int) truth {
	at := branchOfCall{b, in.call}
	if t, ok := s.executedBranches[at]; ok {
		return t
	}
	var t truth
	switch {
	case b.tag != nil:
		t = s.oneOf(in, b.tag, b.cases, nesting)
	case b.isNot:
		t = s.condition(in.with(b.condition), nesting+1).not()
	default:
		t = s.condition(in.with(b.condition), nesting+1)
	}
	if len(s.evaluating) == 0 { // else it may depend on what is being evaluated
		s.executedBranches[at] = t
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
