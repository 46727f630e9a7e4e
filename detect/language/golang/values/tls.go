package values

import (
	"cmp"
	"go/ast"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	// requiredClient are the values of ClientAuth that require a client certificate, and others those that do not
	// (crypto/tls, ClientAuthType).
	requiredClient = source.Exactly(`RequireAndVerifyClientCert|RequireAnyClientCert`)
	optionalClient = source.Exactly(`NoClientCert|RequestClientCert|VerifyClientCertIfGiven`)
	// mutualFunction is a function of others whose configuration requires a client certificate, as go-spiffe's do.
	mutualFunction = lazyregexp.New(`(?i)mtls|mutual`)
	autocertConfig = source.Exactly(`TLSConfig`)
)

// configuration takes a tls.Config.
func (w *credentials) configuration(x expression, when truth, nesting int) {
	from := w.leaves(x, when, w.seen, nesting+1)
	if len(from) == 0 {
		w.unknown(x, when)
	}
	for _, l := range from {
		switch e := l.Expr.(type) {
		case *ast.CompositeLit:
			w.filled(l, nesting)
		case *ast.CallExpr:
			w.configurationCall(l, e, nesting)
		case *ast.Ident:
			if l.in.declaresConfiguration(e) {
				w.filled(l, nesting)
			}
		case nil:
			w.add(x, plan.UnknownTransport, l.when)
		}
	}
}

func (w *credentials) configurationCall(l leaf, call *ast.CallExpr, nesting int) {
	fun := syntax.Called(call)
	name := l.in.Qualified(call)
	method, ok := fun.(*ast.SelectorExpr)
	switch {
	case ok && method.Sel.Name == "Clone":
		w.configuration(l.with(method.X), l.when, nesting+1)
	case name == "new":
		w.add(l.expression, plan.TLS, l.when)
	case mutualFunction.MatchString(syntax.LastName(fun)):
		w.add(l.expression, plan.MutualTLS, l.when)
	case autocertConfig.MatchString(syntax.LastName(fun)) && len(call.Args) == 0 &&
		l.in.Imports.Has("golang.org/x/crypto/acme/autocert"):
		w.add(l.expression, plan.TLS, l.when)
	default:
		w.add(l.expression, plan.UnknownTransport, l.when)
	}
}

// declaresConfiguration reports whether a name is that of a variable which is a tls.Config, and no pointer to one.
func (f *Source) declaresConfiguration(name *ast.Ident) bool {
	d := f.Declaration(name)
	if d == nil {
		return false
	}
	spec, ok := d.Node.(*ast.ValueSpec)
	return ok && f.PathOf(spec.Type) == "crypto/tls" && syntax.LastName(spec.Type) == "Config"
}

// filled takes a tls.Config, a literal or a variable, with what its fields get later. If the setting with the file of
// the authorities decides whether there is one, the setting with the file of the certificate does too, and is the one
// that says TLS: the other one may do without.
func (w *credentials) filled(l leaf, nesting int) {
	certificate := w.fileIn(l, "Certificates", nesting, w.certificateIn)
	authority := w.fileIn(l, "ClientCAs", nesting, w.authority)
	if authority.setting != "" && authority.setting == l.when.setting {
		l.when.setting = either(certificate.setting, authority.setting)
	}
	w.add(l.expression, plan.TLS, l.when)
	for _, a := range w.fieldValues(l, "ClientAuth", nesting) {
		when := l.when
		if a.in == l.in {
			when = when.and(w.executed(a, a.Pos(), l.Pos(), nesting))
		}
		w.client(a, when, nesting+1)
	}
	for _, required := range w.fieldValues(l, "RequireClientCert", nesting) { // of advancedtls.Options
		if syntax.Name(required.Expr) == "true" {
			w.add(required, plan.MutualTLS, l.when)
		}
	}
	if w.says.IsTLS() {
		w.says.Certificate = cmp.Or(certificate.text, w.says.Certificate)
		w.says.Authority = cmp.Or(authority.text, w.says.Authority)
	}
}

// fileIn returns the last file that is read for a field of a tls.Config, and the setting that names it.
func (w *credentials) fileIn(
	of leaf, field string, nesting int, fileOf func(x expression, nesting int) value,
) value {
	var file value
	for _, x := range w.fieldValues(of, field, nesting) {
		if named := fileOf(x, nesting); named.text != "" || named.setting != "" {
			file = named
		}
	}
	return file
}

// client takes what says whether a client certificate is required. What decides that does not decide on TLS itself.
func (w *credentials) client(x expression, when truth, nesting int) {
	decides := w.says.Setting
	defer func() {
		if w.says.Transport == plan.UnknownTransport {
			w.says.Setting = decides
		}
	}()
	for _, l := range w.leaves(x, when, w.seen, nesting+1) {
		switch name := syntax.LastName(l.Expr); {
		case l.Expr == nil:
			w.add(x, plan.UnknownTransport, l.when)
		case requiredClient.MatchString(name):
			w.add(l.expression, plan.MutualTLS, l.when)
		case optionalClient.MatchString(name):
			w.add(l.expression, plan.TLS, l.when)
		default:
			w.add(x, plan.UnknownTransport, l.when)
		}
	}
}

// fieldValues returns what a field of a struct gets, in the literal that makes it or later.
func (w *credentials) fieldValues(of leaf, field string, nesting int) []expression {
	var found []expression
	if literal, ok := of.Expr.(*ast.CompositeLit); ok {
		if written := syntax.Element(literal, field); written != nil {
			found = append(found, of.with(written))
		}
	}
	assigned := w.fields[field]
	for _, a := range assigned[:min(len(assigned), maxOrigins)] {
		to := expression{Expr: a.field.X, in: a.value.in}
		if w.isVariable(to, of.expression) {
			found = append(found, a.value)
			continue
		}
		for _, made := range w.composites(to, nesting+1) {
			if made.Expr == of.Expr {
				found = append(found, a.value)
			}
		}
	}
	return found
}

// isVariable reports whether two expressions are the same variable of a file.
func (w *credentials) isVariable(a, b expression) bool {
	x, isName := ast.Unparen(a.Expr).(*ast.Ident)
	y, areNames := b.Expr.(*ast.Ident)
	return isName && areNames && a.in == b.in && a.in.Declaration(x) != nil &&
		a.in.Declaration(x) == b.in.Declaration(y)
}

// certificateIn returns the file of the first certificate in a list that is loaded from one.
func (w *credentials) certificateIn(list expression, nesting int) value {
	literal, ok := ast.Unparen(list.Expr).(*ast.CompositeLit)
	if !ok || len(literal.Elts) == 0 {
		return value{}
	}
	for _, l := range w.leaves(list.with(literal.Elts[0]), truth{}, w.seen, nesting+1) {
		if call, ok := l.Expr.(*ast.CallExpr); ok && l.in.Qualified(call) == "crypto/tls.LoadX509KeyPair" {
			return w.fileAndSetting(l.with(call.Args[0]))
		}
	}
	return value{}
}

// fileAndSetting returns the name of a file, if it is known, with the setting that gives it.
func (w *credentials) fileAndSetting(x expression) value {
	file := value{text: w.fileNamed(x)}
	for _, v := range w.evaluate(x, 0) {
		file.setting = either(file.setting, v.setting)
	}
	return file
}

// authority returns the file that the authorities in a pool are read from: pool.AppendCertsFromPEM(ca) of what
// os.ReadFile returns.
func (w *credentials) authority(pool expression, nesting int) value {
	calls := w.calls[symbol{name: "AppendCertsFromPEM"}]
	for _, c := range calls[:min(len(calls), maxOrigins)] {
		call, _ := c.Expr.(*ast.CallExpr)
		to, ok := syntax.Called(call).(*ast.SelectorExpr)
		if !ok || len(call.Args) != 1 || !w.isVariable(c.with(to.X), pool) {
			continue
		}
		for _, read := range w.leaves(c.with(call.Args[0]), truth{}, w.seen, nesting+1) {
			from, ok := read.Expr.(*ast.CallExpr)
			if ok && readFile.MatchString(read.in.Qualified(from)) && len(from.Args) == 1 {
				return w.fileAndSetting(read.with(from.Args[0]))
			}
		}
	}
	return value{}
}

var readFile = source.Exactly(`(?:os|io/ioutil)\.ReadFile`)
