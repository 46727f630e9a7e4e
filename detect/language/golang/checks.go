package golang

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// knownServices returns, for each implementation of Check of grpc.health.v1 in a file, the one service that it knows by
// a literal and calls SERVING under that name alone; "" if it may call the whole server SERVING.
func knownServices(file *syntax.File) []string {
	var known []string
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || fn.Body == nil || fn.Name.Name != "Check" {
			continue
		}
		if _, request := syntax.FieldAt(fn.Type.Params, 1); syntax.LastName(request) != "HealthCheckRequest" {
			continue
		}
		c := check{}
		c.block(fn.Body.List, "", 0)
		if c.isOpen || len(c.services) == 0 {
			known = append(known, "")
		} else {
			known = append(known, c.services[0])
		}
	}
	return known
}

// check is the body of an implementation of Check.
type check struct {
	services []string
	isOpen   bool // it says SERVING whatever the name is
}

// maxBlocks is how many blocks within one another are looked into.
const maxBlocks = 20

// block takes statements that are executed for a service alone, or for any with the name "".
func (c *check) block(statements []ast.Stmt, service string, depth int) {
	if c.isOpen = c.isOpen || depth > maxBlocks; c.isOpen {
		return
	}
	for _, s := range statements {
		switch s := s.(type) {
		case *ast.IfStmt:
			c.block(s.Body.List, serviceIn(s.Cond, token.EQL, service), depth+1)
			other := serviceIn(s.Cond, token.NEQ, service)
			if s.Else != nil {
				c.block([]ast.Stmt{s.Else}, other, depth+1)
			} else if len(s.Body.List) > 0 {
				if _, returns := s.Body.List[len(s.Body.List)-1].(*ast.ReturnStmt); returns {
					service = other
				}
			}
		case *ast.BlockStmt:
			c.block(s.List, service, depth+1)
		case *ast.SwitchStmt:
			c.cases(s, service, depth)
		default:
			c.answer(s, service)
		}
	}
}

// cases takes the clauses of a switch of the service's name, or of something else.
func (c *check) cases(s *ast.SwitchStmt, service string, depth int) {
	for _, clause := range s.Body.List {
		of, ok := clause.(*ast.CaseClause)
		if !ok {
			continue
		}
		name := service
		if s.Tag != nil && isServiceName(s.Tag) && len(of.List) > 0 {
			texts := make([]string, len(of.List))
			for i, e := range of.List {
				texts[i], _ = syntax.StringLiteral(e)
			}
			if name = texts[0]; slices.Contains(texts, "") {
				name = ""
			}
		}
		c.block(of.Body, name, depth+1)
	}
}

// answer takes a statement without branches.
func (c *check) answer(s ast.Stmt, service string) {
	ast.Inspect(s, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && name.Name == "HealthCheckResponse_SERVING" {
			c.isOpen = c.isOpen || service == ""
			c.services = append(c.services, service)
		}
		return true
	})
}

// serviceIn returns the literal that a condition compares the service's name with by an operator, or else another one.
func serviceIn(condition ast.Expr, operator token.Token, otherwise string) string {
	compared, ok := ast.Unparen(condition).(*ast.BinaryExpr)
	if !ok || compared.Op != operator || !isServiceName(compared.X) {
		return otherwise
	}
	name, _ := syntax.StringLiteral(compared.Y)
	return name
}

// isServiceName reports whether an expression is the name that a request asks for.
func isServiceName(e ast.Expr) bool {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		return syntax.LastName(call.Fun) == "GetService"
	}
	return syntax.LastName(ast.Unparen(e)) == "Service"
}

// healthLibrary makes health services that know the whole server.
const healthLibrary = "google.golang.org/grpc/health"

// nameHealth lets the probe ask for the one service that the health service of a project knows, if the project
// implements that itself and has no other.
func nameHealth(p *project) {
	var known []string
	for _, f := range p.Files {
		if slices.Contains(f.Extra.Imports, healthLibrary) {
			return
		}
		known = append(known, f.Extra.KnownServices...)
	}
	if len(known) != 1 || known[0] == "" {
		return
	}
	for _, in := range p.Packages {
		for i, f := range in.Findings {
			health, ok := f.(finding.Health)
			if !ok {
				continue
			}
			health.NeedsStatus = true
			in.Findings[i] = health
			in.Findings = append(in.Findings, finding.HealthStatus{
				Site: health.Quiet(), Service: known[0], Serving: true,
			})
		}
	}
}
