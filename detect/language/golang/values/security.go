package values

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Constructor is a call that makes a server. The arguments from the first option on are options.
type Constructor struct {
	In          *Source
	Call        *ast.CallExpr
	FirstOption int
}

// Security returns the security of the transport of a server that calls make: one, or one of several in the branches of
// a condition. Without credentials it is plaintext. What is given to the calls and cannot be followed makes it unknown.
// If functions make different servers, what decides is where they are called.
func (s *Sources) Security(made []Constructor) plan.Security {
	all := s.securities(made)
	if len(all) == 0 {
		return plan.Security{}
	}
	if slices.ContainsFunc(all, func(o secured) bool { return o.says.Transport != all[0].says.Transport }) {
		return s.chosen(all)
	}
	return all[0].says
}

// securities returns what the calls in each function say.
func (s *Sources) securities(made []Constructor) []secured {
	var all []secured
	calls := map[*ast.FuncDecl][]Constructor{}
	for _, c := range made {
		by := s.enclosing(expression{Expr: c.Call, in: c.In})
		if calls[by] == nil {
			all = append(all, secured{by: by, in: c.In})
		}
		calls[by] = append(calls[by], c)
	}
	for i, o := range all {
		all[i].says = s.securityOf(calls[o.by])
	}
	return all
}

// securityOf is [Sources.Security] of calls in one function.
func (s *Sources) securityOf(made []Constructor) plan.Security {
	w := s.newCredentials()
	for _, c := range made {
		x, when := expression{Expr: c.Call, in: c.In}, truth{}
		w.seen = map[evaluation]bool{}
		if len(made) > 1 {
			when = s.executed(x, c.Call.Pos(), token.NoPos, 0)
			w.add(x, plan.Plaintext, when)
		}
		for _, option := range c.Call.Args[min(c.FirstOption, len(c.Call.Args)):] {
			w.option(x.with(option), when, 0)
		}
	}
	return w.says
}

// ServedSecurity returns the security of a listener that calls make or serve with TLS. The last arguments of each are
// the files with a certificate and its key, or a configuration. In a branch of a condition, it is plaintext otherwise.
// made says how the call is reached; its zero value stands for any way.
func (s *Sources) ServedSecurity(in *Source, call *ast.CallExpr, made Made) plan.Security {
	w := s.newCredentials()
	x := expression{Expr: call, in: in, call: made.by}
	when := s.executed(x, call.Pos(), token.NoPos, 0)
	switch name, args := syntax.LastName(call.Fun), call.Args; {
	case name == "ListenAndServeTLS" && len(args) == 4: // (address, certificate, key, handler)
		w.secure(x.with(args[1]), when)
	case strings.HasSuffix(name, "ServeTLS") && len(args) >= 2: // ([listener,] certificate, key)
		w.secure(x.with(args[len(args)-2]), when)
	case len(args) >= 2: // tls.NewListener(listener, config), tls.Listen(network, address, config)
		w.configuration(x.with(args[len(args)-1]), when, 0)
	}
	if method, ok := syntax.Called(call).(*ast.SelectorExpr); ok && in.PathOf(method) == "" {
		for _, server := range s.composites(x.with(method.X), 0) {
			for _, c := range w.fieldValues(leaf{expression: server}, "TLSConfig", 0) {
				w.configuration(c, when.and(s.executed(c, c.Pos(), server.Pos(), 0)), 0)
			}
		}
	}
	return w.says
}

// ServersOf returns where the servers of net/http are made whose method a call calls, and none if it may be others.
func (s *Sources) ServersOf(in *Source, call *ast.CallExpr) []plan.Place {
	s.nameDefaults()
	s.begin()
	method, ok := syntax.Called(call).(*ast.SelectorExpr)
	if !ok || in.PathOf(method) != "" {
		return nil
	}
	of := s.literalsOf(expression{Expr: method.X, in: in}, 0)
	if of.isOpen || of.isFilled {
		return nil
	}
	var places []plan.Place
	for _, server := range of.found {
		places = append(places, server.place())
	}
	return places
}

func (s *Sources) newCredentials() *credentials {
	s.nameDefaults()
	s.begin()
	return &credentials{Sources: s, seen: map[evaluation]bool{}, says: plan.Security{Transport: plan.Plaintext}}
}

// credentials finds the credentials of one server.
type credentials struct {
	*Sources
	seen map[evaluation]bool
	says plan.Security
}

// The functions that give credentials to a server, or make some. Others of grpc-go set no credentials.
var (
	transportOption = source.Exactly(`google\.golang\.org/grpc\.Creds|` +
		`go\.uber\.org/yarpc/transport/grpc\.InboundCredentials`)
	configurationOption = source.Exactly(`github\.com/go-kratos/kratos(?:/v\d+)?/transport/grpc\.TLSConfig|` +
		`.*/server/grpc(?:/v\d+)?\.AuthTLS|(?:github\.com/(?:micro|asim|go-micro)|go-micro\.dev)/.*server\.TLSConfig`)
	manyOptions = source.Exactly(`github\.com/go-kratos/kratos(?:/v\d+)?/transport/grpc\.Options|` +
		`.*/server/grpc(?:/v\d+)?\.Options`)
	listenerOption = source.Exactly(`github\.com/cloudwego/kitex/server\.WithListener`)
	listensTLS     = source.Exactly(`crypto/tls\.(?:NewListener|Listen)`)
	// secureOption is an option by its name, and otherOption one that sets no credentials.
	secureOption = lazyregexp.New(`(?i)\.\w*(?:tls|cred|secur)\w*$`)
	otherOption  = lazyregexp.New(`^google\.golang\.org/grpc\.|^go\.uber\.org/yarpc/|^go-micro\.dev/|` +
		`^github\.com/(?:go-kratos|micro|asim|go-micro|cloudwego)/|` +
		`(?i)interceptor|middleware|chain|unary|stream|stats|trac|metric|telemetry|keepalive|msgsize`)

	noCredentials  = source.Exactly(`google\.golang\.org/grpc/credentials/(?:insecure|local)\.NewCredentials`)
	fileCredential = source.Exactly(`google\.golang\.org/grpc/credentials\.NewServerTLSFromFile`)
	certCredential = source.Exactly(`google\.golang\.org/grpc/credentials\.NewServerTLSFromCert`)
	tlsCredential  = source.Exactly(`google\.golang\.org/grpc/credentials\.NewTLS|` +
		`google\.golang\.org/grpc/security/advancedtls\.NewServerCreds`)
	xdsCredential  = source.Exactly(`google\.golang\.org/grpc/(?:credentials/)?xds\.\w+|.*/credentials/xds\.\w+`)
	altsCredential = source.Exactly(`google\.golang\.org/grpc/credentials/alts\.\w+`)
)

// option takes an option of a server, or a list of options.
func (w *credentials) option(x expression, when truth, nesting int) {
	for _, l := range w.leaves(x, when, w.seen, nesting+1) {
		switch e := l.Expr.(type) {
		case nil:
			w.unknown(x, l.when)
		case *ast.CompositeLit:
			for _, element := range e.Elts[:min(len(e.Elts), maxElements)] {
				w.option(l.with(element), l.when, nesting+1)
			}
		case *ast.CallExpr:
			w.optionCall(l, e, nesting)
		}
	}
}

func (w *credentials) optionCall(l leaf, call *ast.CallExpr, nesting int) {
	switch name := l.in.Qualified(call); {
	case name == "append", manyOptions.MatchString(name):
		for _, arg := range call.Args {
			w.option(l.with(arg), l.when, nesting+1)
		}
	case name == "make", name == "new":
	case transportOption.MatchString(name) && len(call.Args) == 1:
		w.transport(l.with(call.Args[0]), l.when, nesting+1)
	case configurationOption.MatchString(name) && len(call.Args) == 1:
		w.configuration(l.with(call.Args[0]), l.when, nesting+1)
	case listenerOption.MatchString(name) && len(call.Args) == 1:
		w.listener(l.with(call.Args[0]), l.when, nesting+1)
	case secureOption.MatchString(name), !otherOption.MatchString(name):
		w.unknown(l.expression, l.when)
	}
}

// listener takes a listener, which may have TLS.
func (w *credentials) listener(x expression, when truth, nesting int) {
	for _, l := range w.leaves(x, when, w.seen, nesting+1) {
		if call, ok := l.Expr.(*ast.CallExpr); ok && listensTLS.MatchString(l.in.Qualified(call)) {
			w.configuration(l.with(call.Args[len(call.Args)-1]), l.when, nesting+1)
		}
	}
}

// transport takes credentials.
func (w *credentials) transport(x expression, when truth, nesting int) {
	from := w.leaves(x, when, w.seen, nesting+1)
	if len(from) == 0 {
		w.unknown(x, when)
	}
	for _, l := range from {
		call, ok := l.Expr.(*ast.CallExpr)
		if !ok {
			if syntax.Name(l.Expr) != "nil" {
				w.add(x, plan.UnknownTransport, l.when)
			}
			continue
		}
		switch name := l.in.Qualified(call); {
		case noCredentials.MatchString(name):
			w.add(l.expression, plan.Plaintext, l.when)
		case fileCredential.MatchString(name) && len(call.Args) > 0:
			w.secure(l.with(call.Args[0]), l.when)
		case certCredential.MatchString(name):
			w.add(l.expression, plan.TLS, l.when)
		case tlsCredential.MatchString(name) && len(call.Args) == 1:
			w.configuration(l.with(call.Args[0]), l.when, nesting+1)
		case xdsCredential.MatchString(name):
			w.add(l.expression, plan.UnknownTransport, l.when.and(truth{maybe, "the xDS control plane"}))
		case altsCredential.MatchString(name):
			w.add(l.expression, plan.UnknownTransport, l.when.and(truth{maybe, "ALTS"}))
		default:
			w.add(l.expression, plan.UnknownTransport, l.when)
		}
	}
}

// unknown takes something that may be credentials or not.
func (w *credentials) unknown(x expression, when truth) {
	if named := w.settingNamed(x); named != inSource {
		when.setting = either(when.setting, named)
	}
	w.add(x, plan.UnknownTransport, when)
}

// secure takes a transport whose certificate is in the file that an expression names.
func (w *credentials) secure(file expression, when truth) {
	w.add(file, plan.TLS, when)
	if w.says.Transport == plan.TLS && w.says.Certificate == "" {
		w.says.Certificate = w.fileNamed(file)
	}
}

// fileNamed returns the name of a file, "" if it is not known.
func (w *credentials) fileNamed(x expression) string {
	if name, ok := w.text(x, 0); ok {
		return name
	}
	return ""
}

// add adds what the transport is under a condition, after what it was before.
func (w *credentials) add(x expression, transport plan.Transport, when truth) {
	differs := transport != w.says.Transport
	switch {
	case when.holds == no && !differs:
	case when.holds == no && when.setting != "":
		w.says.Setting = either(w.says.Setting, when.setting)
		w.says.Place = x.place()
	case when.holds != yes && differs:
		w.says = plan.Security{Setting: either(when.setting, w.says.Setting), Place: x.place()}
	case when.holds == yes:
		if differs && when.setting != "" {
			w.says.Setting = when.setting
		}
		w.says.Transport, w.says.Place = transport, x.place()
	}
}
