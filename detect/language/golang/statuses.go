package golang

import (
	"go/ast"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// statusSetters are the methods that set the status of a service, with the packages that a source imports which calls
// them. The library of either knows the whole server from the start (NewServer of health/server.go of grpc-go, Check of
// grpchealth.go of connect).
var statusSetters = map[string]*lazyregexp.Regexp{
	"SetServingStatus": source.Exactly(`google\.golang\.org/grpc/health(?:/grpc_health_v1)?`),
	"SetStatus":        source.Exactly(`connectrpc\.com/grpchealth|github\.com/bufbuild/connect-grpchealth-go`),
}

// visitStatus adds the status that a call of a method sets, if it does.
func (p *pass) visitStatus(call *ast.CallExpr, method *ast.SelectorExpr) {
	of := statusSetters[method.Sel.Name]
	if of == nil || len(call.Args) != 2 || !p.file.Imports.AnyMatches(of) {
		return
	}
	status := strings.ToUpper(strings.ReplaceAll(syntax.LastName(call.Args[1]), "_", ""))
	name := p.file.Span(call.Args[0])
	set := finding.HealthStatus{
		Site: p.at(method).Quiet(), Named: string(p.text[name.From:name.To]),
		NotServing: strings.HasSuffix(status, "NOTSERVING"),
	}
	p.add(set)
	p.follow(set.Site, setsStatus, call)
}

// nameStatuses names the services whose statuses are set, as far as the sources say how they are called.
func (f *flow) nameStatuses(files []analyzer.File[Extra]) {
	for i, file := range files {
		names := map[*finding.Site][]string{}
		f.each(file, func(in *values.Source, c call, code ast.Expr) {
			if set, ok := code.(*ast.CallExpr); ok && c.kind == setsStatus {
				names[c.Site] = f.Texts(in, set.Args[0])
			}
		})
		for j, found := range file.Findings {
			if s, ok := found.(finding.HealthStatus); ok {
				files[i].Findings[j] = s.With(names[s.Site]...)
			}
		}
	}
}
