package syntax

import (
	"go/ast"
	"go/token"
)

// walkDecl walks a declaration of the package, whose names are declared.
func (s *scopes) walkDecl(d ast.Decl) {
	g, ok := d.(*ast.GenDecl)
	if !ok {
		s.walk(d)
		return
	}
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			s.walk(spec.Type)
			walkAll(s, spec.Values)
		case *ast.TypeSpec:
			s.walkType(spec)
		}
	}
}

// Visit resolves the names in a node (ast.Visitor). It returns nil for what it has walked itself, in the order in which
// names become visible.
func (s *scopes) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.Ident:
		if d := s.visible[n.Name]; d != nil && d.Local {
			s.locals[n] = d
		}
	case *ast.SelectorExpr:
		s.walk(n.X)
	case *ast.Field: // of a struct, an interface or the type of a function: its name is none that others see
		s.walk(n.Type)
	case *ast.LabeledStmt:
		s.walk(n.Stmt)
	case *ast.BranchStmt:
	case *ast.FuncDecl:
		s.walkFunction(n.Recv, n.Type, n.Body)
	case *ast.FuncLit:
		outer := s.literal
		s.literal = &literal{n.Body.Lbrace, n.Body.End(), outer}
		s.walkFunction(nil, n.Type, n.Body)
		s.literal = outer
	case *ast.ValueSpec:
		s.walk(n.Type)
		walkAll(s, n.Values)
		for _, name := range n.Names {
			s.declare(name, n)
		}
	case *ast.TypeSpec:
		s.declare(n.Name, n)
		s.walkType(n)
	case *ast.AssignStmt:
		s.walkAssignment(n)
	case ast.Stmt:
		return s.visitStatement(n)
	default:
		return s
	}
	return nil
}

// visitStatement is Visit for statements that open scopes.
func (s *scopes) visitStatement(n ast.Stmt) ast.Visitor {
	switch n := n.(type) {
	case *ast.BlockStmt:
		defer s.open()()
		s.walkBlock(block{from: n.Lbrace, to: n.End()}, n.List)
	case *ast.CaseClause:
		walkAll(s, n.List)
		defer s.open()()
		s.walkBlock(block{from: n.Colon, to: n.End()}, n.Body)
	case *ast.CommClause:
		defer s.open()()
		s.walk(n.Comm)
		s.walkBlock(block{from: n.Colon, to: n.End()}, n.Body)
	case *ast.IfStmt:
		defer s.open()()
		s.walk(n.Init)
		s.walk(n.Cond)
		s.walk(n.Body)
		s.walk(n.Else)
	case *ast.ForStmt:
		defer s.open()()
		s.walk(n.Init)
		s.walk(n.Cond)
		s.walk(n.Post)
		s.walk(n.Body)
	case *ast.RangeStmt:
		s.walk(n.X)
		defer s.open()()
		s.walkTargets(n, n.Tok, n.Key, n.Value)
		s.walk(n.Body)
	case *ast.SwitchStmt:
		defer s.open()()
		s.walk(n.Init)
		s.walk(n.Tag)
		walkAll(s, n.Body.List)
	case *ast.TypeSwitchStmt:
		defer s.open()()
		s.walk(n.Init)
		s.walk(n.Assign)
		walkAll(s, n.Body.List)
	default:
		return s
	}
	return nil
}

func (s *scopes) walkFunction(receiver *ast.FieldList, t *ast.FuncType, body *ast.BlockStmt) {
	defer s.open()()
	s.declareFields(t.TypeParams)
	s.walkFields(t.TypeParams)
	// A parameter is visible in the body alone: in func(cache cache.Cache, size cache.Size) both types are a package's.
	all := []*ast.FieldList{receiver, t.Params, t.Results}
	for _, fields := range all {
		s.walkFields(fields)
	}
	for _, fields := range all {
		s.declareFields(fields)
	}
	if body != nil {
		s.walkBlock(block{from: body.Lbrace, to: body.End(), isBody: true}, body.List)
	}
}

func (s *scopes) walkFields(fields *ast.FieldList) {
	if fields != nil {
		walkAll(s, fields.List)
	}
}

func (s *scopes) declareFields(fields *ast.FieldList) {
	if fields == nil {
		return
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			s.declare(name, field)
		}
	}
}

func (s *scopes) walkType(t *ast.TypeSpec) {
	defer s.open()()
	s.declareFields(t.TypeParams)
	s.walkFields(t.TypeParams)
	s.walk(t.Type)
}

func (s *scopes) walkAssignment(n *ast.AssignStmt) {
	walkAll(s, n.Rhs)
	s.walkTargets(n, n.Tok, n.Lhs...)
}

// walkTargets declares what := declares, and resolves what other assignments assign to. A name that := finds in the
// same scope is assigned and not declared again.
func (s *scopes) walkTargets(at ast.Node, assignment token.Token, targets ...ast.Expr) {
	for _, target := range targets {
		name, isName := target.(*ast.Ident)
		switch {
		case target == nil:
		case isName && assignment == token.DEFINE && !s.isInScope(name):
			s.declare(name, at)
		default:
			s.walk(target)
		}
	}
}
