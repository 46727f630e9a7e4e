package golang

import (
	"bytes"
	"go/ast"
	"go/token"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// listenRule is one row of the table of listeners: functions, how many arguments they have, and which one of these is
// the address. The argument before the address is the network.
type listenRule struct {
	importPath, name   *lazyregexp.Regexp
	arguments, address int
	kind               listenKind
}

// listenKind says what listens: a socket that a server is given, a server of net/http, or a server of a framework that
// has the address for an option.
type listenKind int

const (
	bySocket listenKind = iota
	byHTTP
	byOption
)

// listenRules has the path "" for methods.
var listenRules = []listenRule{
	{source.Exactly(`net`), source.Exactly(`Listen(?:TCP|Unix)?`), 2, 1, bySocket},
	{source.Exactly(`.*`), source.Exactly(`Listen|NewReusablePort\w*`), 2, 1, bySocket},
	{source.Exactly(``), source.Exactly(`Listen`), 3, 2, bySocket}, // of net.ListenConfig
	{source.Exactly(`crypto/tls`), source.Exactly(`Listen`), 3, 1, bySocket},
	{source.Exactly(`net/http`), source.Exactly(`ListenAndServe`), 2, 0, byHTTP},
	{source.Exactly(`net/http`), source.Exactly(`ListenAndServeTLS`), 4, 0, byHTTP},
	{source.Exactly(``), source.Exactly(`StartH2CServer`), 2, 0, byHTTP}, // of echo
	{kratosGRPC, source.Exactly(`Address`), 1, 0, byOption},
	{goMicroAny, source.Exactly(`Address`), 1, 0, byOption},
	{source.Exactly(`github\.com/cloudwego/kitex/server`), source.Exactly(`WithServiceAddr`), 1, 0, byOption},
	{dubboProtocol, source.Exactly(`WithPort`), 1, 0, byOption},
	{daprGRPC, source.Exactly(`NewService`), 1, 0, byOption},
}

// listener is what listens on an address.
type listener struct {
	node             ast.Node
	network, address ast.Expr
	kind             listenKind
	isH2C            bool            // with HTTP/2 without TLS
	handler          ast.Expr        // of net/http, or nil
	server           *ast.CallExpr   // what gives it to a server of gRPC, nil if that is not seen
	of               []*finding.Site // the servers that are given it
}

// visitListen adds what a call listens on.
func (p *pass) visitListen(call *ast.CallExpr, importPath, name string) {
	for _, r := range listenRules {
		if len(call.Args) != r.arguments || !r.name.MatchString(name) || !r.importPath.MatchString(importPath) {
			continue
		}
		l := &listener{node: call, address: call.Args[r.address], kind: r.kind}
		if r.kind == byHTTP {
			l.handler = call.Args[r.arguments-1]
			l.isH2C = importPath == "" || p.isH2C(l.handler)
		}
		if r.address > 0 {
			l.network = call.Args[r.address-1]
		}
		if _, isWritten := syntax.StringLiteral(l.network); importPath == "net" || r.address == 0 || isWritten {
			p.addListener(l)
		}
		return
	}
}

// visitHTTPServer adds the address of an http.Server{Addr: ...}.
func (p *pass) visitHTTPServer(literal *ast.CompositeLit) {
	to := syntax.Element(literal, "Addr")
	if to == nil || syntax.LastName(literal.Type) != "Server" || p.file.PathOf(literal.Type) != "net/http" {
		return
	}
	l := &listener{node: literal, address: to, kind: byHTTP, handler: syntax.Element(literal, "Handler")}
	l.isH2C = syntax.Element(literal, "Protocols") != nil || p.isH2C(l.handler)
	p.addListener(l)
}

// isH2C reports whether a handler serves HTTP/2 without TLS.
func (p *pass) isH2C(handler ast.Expr) bool {
	call, ok := syntax.InitialValue(handler).(*ast.CallExpr)
	return ok && h2c.MatchString(p.file.PathOf(syntax.Called(call)))
}

// maxListeners is how many listeners of a file are looked at.
const maxListeners = 32

func (p *pass) addListener(l *listener) {
	if len(p.listeners) < maxListeners {
		p.listeners = append(p.listeners, l)
	}
}

// finding returns what a listener states, and whether that is known.
func (p *pass) finding(l *listener) (f finding.Listener, isKnown bool) {
	f = finding.Listens(p.addressOf(l))
	if f.Site = p.at(l.node).Quiet(); l.server != nil {
		f.Site = p.at(l.server).Quiet()
	}
	return f, f.Why == ""
}

// addressOf returns the address of a listener.
func (p *pass) addressOf(l *listener) (a plan.Address, why string) {
	a.Place.Line = p.file.Line(l.address)
	networks := []string{"tcp"}
	if l.network != nil {
		networks = p.literals(l.network)
	}
	isUnix := slices.Contains(networks, "unix")
	switch paths := p.literals(l.address); {
	case isUnix && len(networks) > 1:
		return a, "the network is not known"
	case isUnix && len(paths) == 1:
		a.Host, a.Socket, a.Certainty = plan.UnixSocket, "unix:"+paths[0], plan.Written
		return a, ""
	case isUnix:
		a.Host = plan.UnixSocket
		return a, ""
	}
	a, why = p.names().Address(p.file.Span(l.address))
	if networks == nil {
		a = address.ByDefault(a, a.Variable) // an option may give another network, and then another address
	}
	p.makers(l.address, func(n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && !converts(call) {
			a = address.ByDefault(a, a.Variable) // a function may have its arguments for defaults
		}
	})
	return a, why
}

// convertType are the types that a port is converted to.
var convertType = source.Exactly(`string|u?int\d*`)

// converts reports whether a call makes nothing but another form of its arguments.
func converts(call *ast.CallExpr) bool {
	name := syntax.Name(call.Fun)
	return convertType.MatchString(name) || conversion.MatchString(name+"(")
}

var (
	// declaration gives a name its value, pair gives two names theirs, at the beginning of a condition.
	declaration = lazyregexp.New(`(?m)(?:^|[;{])[ \t]*(?:(?:const|var|if|switch)[ \t]+)?` +
		`(?P<name>\w+)(?:[ \t]+[\w.*]+)?[ \t]*:?=[ \t]*`)
	pair = lazyregexp.New(`\bif[ \t]+(?P<name>\w+),[ \t]*\w+[ \t]*:=[ \t]*`)
	// zero declares a variable without a value.
	zero = lazyregexp.New(`(?m)(?:^|[;{])[ \t]*(?:var[ \t]+)?(?P<name>\w+)[ \t]+` +
		`(?:string|u?int\d*)(?P<value>)[ \t]*(?:;|$)`)
	// field is selected from something, and not called.
	field = lazyregexp.New(`\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b(?:[^\w.(]|$)`)
	// conversion is a function whose result is what its arguments are, in another form.
	conversion = lazyregexp.New(`\b(?:fmt|strconv|strings|net|cmp)\.[A-Z]\w*\(`)
	// sum adds to a name, which may have a number, and changed changes what a name has.
	sum     = lazyregexp.New(`\w(?P<at>[ \t]*[-+*/%][ \t]*)\w`)
	changed = lazyregexp.New(`(?P<name>\w+)(?P<at>[ \t]*(?:\+\+|--|[-+*/%]=))`)
	// pointer is what may give a variable another value, and flag what gives one the value of an option, which has a
	// default: flag.IntVar(&port, "port", 50051, "").
	pointer = lazyregexp.New(`[(,:={][ \t\n]*(?P<at>&)(?P<name>\w+)[ \t\n]*[^\w\s{]`)
	flag    = lazyregexp.New(`Var(?P<short>P)?(?P<at>\([ \t\n]*&)(?P<name>\w+),`)
)

// plainText returns the text as the evaluation of names reads it. The brackets of var (...) and const (...) are left
// out, and in their place is a word before a block whose names belong to the block around. A field is no variable that
// has its name: cfg.Port is cfg_Port.
func (p *pass) plainText() []byte {
	text := bytes.Clone(p.text.Raw)
	for _, d := range p.file.Decls {
		if group, ok := d.(*ast.GenDecl); ok && group.Lparen.IsValid() && group.Tok != token.IMPORT {
			span := p.file.Span(group)
			text[span.To-1] = ' '
			open := span.From + int(group.Lparen-group.Pos())
			copy(text[span.From:open+1], "do        "[:open+1-span.From])
		}
	}
	for _, m := range p.text.FindAll(field, -1) {
		for i, c := range text[m[0]:m[1]] {
			if c == '.' {
				text[m[0]+i] = '_'
			}
		}
	}
	return text
}

// names returns the names that the file declares. What a pointer is taken of, or is calculated with, gets the name of
// nothing, so that its value is not known.
func (p *pass) names() *address.Names {
	if p.declared != nil {
		return p.declared
	}
	t := grammar.Read(p.plainText())
	for _, m := range t.FindAll(conversion, -1) {
		source.Blank(t.Code[m[0] : m[1]-1])
	}
	all := map[*lazyregexp.Regexp][][]int{}
	for _, pattern := range []*lazyregexp.Regexp{flag, changed, pointer, sum} {
		all[pattern] = t.FindAll(pattern, -1)
		for _, m := range all[pattern] {
			at := 2 * pattern.SubexpIndex("at")
			copy(t.Code[m[at]:m[at+1]], "________")
		}
	}
	p.declared = address.Read(t, "\n;", declaration, pair, zero)
	for _, pattern := range []*lazyregexp.Regexp{changed, pointer} {
		for _, m := range all[pattern] {
			name, _ := t.Group(pattern, m, "name")
			p.declared.AssignOption(name, "", source.Span{From: m[0], To: m[1]})
		}
	}
	for _, m := range all[flag] {
		name, _ := t.Group(flag, m, "name")
		number := 2
		if _, isShort := t.Group(flag, m, "short"); isShort {
			number = 3
		}
		if value, ok := t.Argument(m[2*flag.SubexpIndex("at")]+1, number); ok {
			p.declared.AssignOption(name, "", value)
		}
	}
	return p.declared
}
