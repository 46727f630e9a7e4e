package golang

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// healthChecks returns the implementations of Check of grpc.health.v1 in a file. One that calls services SERVING only
// under literal names knows these, and one that does not know some names, and never writes that of the whole server,
// knows what the app tells it.
func healthChecks(file *syntax.File) []finding.Finding {
	var found []finding.Finding
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
		of := finding.HealthCheck{Site: finding.AtLine(file.Line(fn), "").Quiet()}
		switch {
		case !c.isOpen && len(c.services) > 0:
			of.Services = c.services
		default:
			of.OfServer = c.isOpen || !deniesNames(fn.Body) || namesServer(file)
		}
		found = append(found, of)
	}
	return found
}

// deniesNames reports whether a body asks for the service's name, and answers some names that it does not know them.
func deniesNames(body *ast.BlockStmt) bool {
	asks, denies := false, false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			asks = asks || n.Sel.Name == "Service" || n.Sel.Name == "GetService"
		case *ast.Ident:
			denies = denies || slices.Contains(denials, n.Name)
		}
		return true
	})
	return asks && denies
}

// denials are the code and the statuses for a service that is not known.
var denials = []string{"NotFound", "HealthCheckResponse_UNKNOWN", "HealthCheckResponse_SERVICE_UNKNOWN"}

// namesServer reports whether a file writes the name of the whole server: as a key, in a comparison, as the first
// argument of a call.
func namesServer(file *syntax.File) bool {
	isNamed := false
	isEmpty := func(e ast.Expr) bool {
		text, ok := syntax.StringLiteral(e)
		return ok && text == ""
	}
	ast.Inspect(file.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			isNamed = isNamed || isEmpty(n.Key)
		case *ast.IndexExpr:
			isNamed = isNamed || isEmpty(n.Index)
		case *ast.BinaryExpr:
			isNamed = isNamed || isEmpty(n.Y) && isServiceName(n.X)
		case *ast.CaseClause:
			isNamed = isNamed || slices.ContainsFunc(n.List, isEmpty)
		case *ast.CompositeLit:
			isNamed = isNamed || slices.ContainsFunc(n.Elts, isEmpty)
		case *ast.CallExpr:
			isNamed = isNamed || len(n.Args) > 0 && isEmpty(n.Args[0])
		}
		return !isNamed
	})
	return isNamed
}

// check is the body of an implementation of Check.
type check struct {
	services []string
	isOpen   bool // it says SERVING whatever the name is
}

// maxBlocks is how many blocks within one another are looked into.
const maxBlocks = 20

// block takes statements that are executed for a service alone, or several with commas between them, or for any with
// the name "".
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
			if name = strings.Join(texts, ","); slices.Contains(texts, "") {
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
			c.services = append(c.services, strings.Split(service, ",")...)
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

// dropHealthChecks drops the implementations of Check of a project that may register the library's in their place.
func dropHealthChecks(p *project) {
	for _, f := range p.Files {
		if slices.Contains(f.Extra.Imports, healthLibrary) {
			p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
				if finding.Is[finding.HealthCheck](f) {
					return nil
				}
				return []finding.Finding{f}
			})
			return
		}
	}
}
