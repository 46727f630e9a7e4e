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

// listenRule is a row of the table of listeners: functions, the number of arguments, and the index of the address. The
// argument before the address is the network.
type listenRule struct {
	importPath, name   *lazyregexp.Regexp
	arguments, address int
	kind               listenKind
}

// listenKind is the kind of a listener: a socket for a server, a server of net/http, or a server of a framework with
// the address as an option.
type listenKind int

const (
	bySocket listenKind = iota
	byHTTP
	byOption
)

// listenRules has the path "" for methods.
var listenRules = []listenRule{
	{source.Exactly(`net`), source.Exactly(`Listen(?:TCP|Unix)?`), 2, 1, bySocket},
	{crossplaneFunction, source.Exactly(`Listen`), 2, 1, byOption},
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

type listener struct {
	node             ast.Node
	network, address ast.Expr
	kind             listenKind
	isH2C            bool            // with HTTP/2 without TLS
	handler          ast.Expr        // of net/http, or nil
	server           *ast.CallExpr   // gives the listener to a server of gRPC, nil if not seen
	of               []*finding.Site // the servers with the listener
}

// visitListen adds the listener of a call.
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
		isNetwork := importPath == "net" || r.address == 0 || r.kind == byOption
		if _, isWritten := syntax.StringLiteral(l.network); isNetwork || isWritten {
			p.addListener(l)
		}
		return
	}
}

// visitServerLiteral adds the address of an http.Server{Addr: ...}, a shim.ChaincodeServer{Address: ...} or a
// zrpc.RpcServerConf{ListenOn: ...}.
func (p *pass) visitServerLiteral(literal *ast.CompositeLit) {
	importPath, name := p.file.PathOf(literal.Type), syntax.LastName(literal.Type)
	l := &listener{node: literal}
	switch {
	case importPath == "net/http" && name == "Server":
		l.address, l.kind, l.handler = syntax.Element(literal, "Addr"), byHTTP, syntax.Element(literal, "Handler")
		l.isH2C = syntax.Element(literal, "Protocols") != nil || p.isH2C(l.handler)
	case fabricShim.MatchString(importPath) && name == chaincodeServer:
		l.address, l.kind = syntax.Element(literal, "Address"), byOption
	case goZeroRPC.MatchString(importPath) && name == "RpcServerConf":
		l.address, l.kind = syntax.Element(literal, "ListenOn"), byOption
		if l.address != nil && syntax.Name(syntax.Element(literal, "Health")) != "true" {
			p.add(finding.HealthDisabled{Site: p.at(literal)}) // true is the default of files alone (zrpc/config.go)
		}
	}
	if l.address != nil {
		p.addListener(l)
	}
}

// goZeroRPC makes the servers of go-zero, by settings that may stand in the source.
var goZeroRPC = source.Exactly(`github\.com/(?:zeromicro|tal-tech)/go-zero/zrpc`)

// isH2C reports whether a handler serves HTTP/2 without TLS.
func (p *pass) isH2C(handler ast.Expr) bool {
	call, ok := syntax.InitialValue(handler).(*ast.CallExpr)
	return ok && h2c.MatchString(p.file.PathOf(syntax.Called(call)))
}

// maxListeners bounds the listeners of a file.
const maxListeners = 32

func (p *pass) addListener(l *listener) {
	if len(p.listeners) < maxListeners {
		p.listeners = append(p.listeners, l)
	}
}

// finding returns the finding of a listener, and whether the address is known.
func (p *pass) finding(l *listener) (f finding.Listener, isKnown bool) {
	f = finding.Listens(p.addressOf(l))
	if f.Site = p.at(l.node).Quiet(); l.server != nil {
		f.Site = p.at(l.server).Quiet()
	}
	return f, f.Why == ""
}

// addressOf returns the address of a listener, or why the address is unknown.
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

var convertType = source.Exactly(`string|u?int\d*`)

// converts reports whether a call only changes the form of the arguments.
func converts(call *ast.CallExpr) bool {
	name := syntax.Name(call.Fun)
	return convertType.MatchString(name) || conversion.MatchString(name+"(")
}

var (
	// declaration gives a value to a name, and pair to two names at the beginning of a condition.
	declaration = lazyregexp.New(`(?m)(?:^|[;{])[ \t]*(?:(?:const|var|if|switch)[ \t]+)?` +
		`(?P<name>\w+)(?:[ \t]+[\w.*]+)?[ \t]*:?=[ \t]*`)
	pair = lazyregexp.New(`\bif[ \t]+(?P<name>\w+),[ \t]*\w+[ \t]*:=[ \t]*`)
	// zero declares a variable without a value.
	zero = lazyregexp.New(`(?m)(?:^|[;{])[ \t]*(?:var[ \t]+)?(?P<name>\w+)[ \t]+` +
		`(?:string|u?int\d*)(?P<value>)[ \t]*(?:;|$)`)
	// field is selected from something, and not called. In a package env, NAME need not be the environment's NAME.
	field = lazyregexp.New(`\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b(?:[^\w.(]|$)|\benv\.[A-Z_][A-Z0-9_]*\.`)
	// conversion is a function that only changes the form of the arguments.
	conversion = lazyregexp.New(`\b(?:fmt|strconv|strings|net|cmp)\.[A-Z]\w*\(`)
	// sum adds to a name, maybe of a number, and changed changes the value of a name.
	sum     = lazyregexp.New(`\w(?P<at>[ \t]*[-+*/%][ \t]*)\w`)
	changed = lazyregexp.New(`(?P<name>\w+)(?P<at>[ \t]*(?:\+\+|--|[-+*/%]=))`)
	// pointer may change the value of a variable, and flag sets a variable to the value of an option with a default:
	// flag.IntVar(&port, "port", 50051, "").
	pointer = lazyregexp.New(`[(,:={][ \t\n]*(?P<at>&)(?P<name>\w+)[ \t\n]*[^\w\s{]`)
	flag    = lazyregexp.New(`Var(?P<short>P)?(?P<at>\([ \t\n]*&)(?P<name>\w+),`)
)

// plainText returns the text for the evaluation of names. The brackets of var (...) and const (...) are replaced by a
// word before a block whose names belong to the block around. A field and a variable of the same name stay apart:
// cfg.Port is cfg_Port.
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

// names returns the names that the file declares. A name in a calculation or with a pointer to the variable becomes the
// name of nothing, so that the value is unknown.
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
	if !p.isBeside {
		p.declared.Elsewhere = p.elsewhere()
	}
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
