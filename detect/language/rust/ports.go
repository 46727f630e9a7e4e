package rust

import (
	"cmp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// transport is how the servers of a framework are told where they listen, and what carries their calls.
type transport struct {
	listens  []analyzer.Listen
	security []analyzer.Rule
}

// axum is what serves the routers that are made of tonic's Routes.
const axum = "axum"

var tlsConfig = analyzer.Rule{Code: lazyregexp.New(`\.\s*(?P<at>tls_config\s*\()`), Proves: finding.UsesTLS}

var transports = map[string]transport{
	tonic: {
		[]analyzer.Listen{{Code: lazyregexp.New(`\.\s*serve(?:_with_\w+)?\s*\(`), Argument: 1}},
		[]analyzer.Rule{tlsConfig, acceptor},
	},
	volo: {
		[]analyzer.Listen{{Code: lazyregexp.New(`\.\s*run\s*\(`), Argument: 1}},
		[]analyzer.Rule{tlsConfig},
	},
	grpcio: {
		[]analyzer.Listen{
			{Code: lazyregexp.New(`\.\s*bind(?:_with_\w+)?\s*\(`), Argument: 2, Host: 1},
			{Code: lazyregexp.New(`\.\s*add_listening_port\s*\(`), Argument: 1},
		},
		[]analyzer.Rule{
			{Code: lazyregexp.New(`\bServerCredentials::insecure\b`), Proves: finding.Insecure},
			{Code: lazyregexp.New(`\bServerCredentialsBuilder\b`), Proves: finding.UsesTLS},
			{Code: lazyregexp.New(`\.\s*(?:add_listening_port|bind_with_\w+)\s*\([^;]*,\s*\w+\s*\)`), Proves: finding.UsesOther},
		},
	},
	poemGRPC: {
		[]analyzer.Listen{{Code: lazyregexp.New(`\bTcpListener::bind\s*\(`), Argument: 1}},
		[]analyzer.Rule{{
			Code: lazyregexp.New(`\.\s*(?P<at>(?:rustls|native_tls|openssl_tls)\s*\()`), Proves: finding.UsesTLS,
		}},
	},
	connectRPC: {
		[]analyzer.Listen{{Code: lazyregexp.New(`(?:\.\s*serve|\bServer::bind)\s*\(`), Argument: 1}},
		[]analyzer.Rule{{Code: lazyregexp.New(`\.\s*(?P<at>with_tls\s*\()`), Proves: finding.UsesTLS}},
	},
	grpcRust: {
		[]analyzer.Listen{{Code: lazyregexp.New(`\.\s*set_(?:port|addr)\s*\(`), Argument: 1}},
		[]analyzer.Rule{{Code: lazyregexp.New(`\.\s*(?P<at>set_tls\s*\()`), Proves: finding.UsesTLS}},
	},
	axum: {
		[]analyzer.Listen{{
			Code:     lazyregexp.New(`\baxum(?:::serve|::Server::bind|_server::(?:bind|from_tcp)(?:_\w+)?)\s*\(`),
			Argument: 1,
		}},
		[]analyzer.Rule{
			{Code: lazyregexp.New(`\baxum_server::(?:bind|from_tcp)_(?:rustls|openssl)\b`), Proves: finding.UsesTLS},
			acceptor,
		},
	},
}

// acceptor makes connections with TLS, to be given to a server.
var acceptor = analyzer.Rule{
	Code: lazyregexp.New(`(?i)\b\w*tls_?(?:acceptor|incoming|listener|stream)\w*|\bSslAcceptor\b|` +
		`\baccept_tls\b|\.\s*acceptor\s*\(`),
	Proves: finding.UsesOther,
}

var (
	// clientTLS is in files with what a client is given, and serverTLS in those with what a server is.
	clientTLS = lazyregexp.New(`\bClientTlsConfig\b`)
	serverTLS = lazyregexp.New(`\bServerTlsConfig\b|\bServerConfig\b|\bIdentity\b`)
)

// maxSecurity is how much of what a text says of the security of its servers is looked at.
const maxSecurity = 16

// listeners returns where the servers among the findings of a text listen, and what carries their calls: TLS that a
// condition decides on, or another function gives, is not known.
func listeners(t *source.Text, found []finding.Finding) []finding.Finding {
	kinds, functions := map[string]bool{}, map[int]bool{}
	blocks := source.FindBlocks(t)
	for s := range finding.All[finding.Server](found) {
		isRouter := strings.HasPrefix(string(t.Code[finding.Offset(s):]), ".")
		kinds[s.Framework] = kinds[s.Framework] || !isRouter
		kinds[axum] = kinds[axum] || isRouter
		functions[blocks.Function(t, t.LogicalLine(finding.Offset(s)))] = true
	}
	names := namesIn(t)
	var all []finding.Finding
	for _, f := range append(frameworks, analyzer.Framework{Name: axum}) {
		if !kinds[f.Name] {
			continue
		}
		all = append(all, analyzer.Listeners(names, transports[f.Name].listens)...)
		if t.Matches(clientTLS) && !t.Matches(serverTLS) {
			continue
		}
		stated := analyzer.Findings(t, transports[f.Name].security, nil)
		for _, of := range stated[:min(len(stated), maxSecurity)] {
			line := t.LogicalLine(finding.Offset(of))
			if s := of.(finding.Security); !functions[blocks.Function(t, line)] || len(blocks.Conditions(t, line)) > 0 {
				of = finding.UsesOther(s.Site, "")
			}
			all = append(all, of)
		}
	}
	return all
}

var (
	variable = lazyregexp.New(`\b(?:let|const|static)\s+(?:mut\s+|ref\s+)?(?P<name>\w+)\s*(?::[^=;]*)?=`)
	// assignment is another value of a variable or a reference by which it may get one, portSet one of an address, and
	// fieldSet one of a field.
	assignment = lazyregexp.New(`(?m)(?:(?:^|;|\{\s|=>)\s*(?P<name>[a-z_]\w*)\s*=\s*[^=>\s]|` +
		`&mut\s+(?P<name>[a-z_]\w*)\s*[,)])`)
	portSet  = lazyregexp.New(`\b(?P<name>[a-z_]\w*)\s*\.\s*set_port\s*\(\s*`)
	fieldSet = lazyregexp.New(`\w\.(?P<field>\w+)\s*=\s*`)
	// matched is a name for what is in a value if it has any, and bound one in an arm or a closure.
	matched = lazyregexp.New(`\bif\s+let\s+(?:Ok|Some)\(\s*(?P<name>\w+)\s*\)\s*=\s*(?P<value>[^{;]*)`)
	bound   = lazyregexp.New(`(?:\b(?:Ok|Some|Err)\(|\|)\s*(?P<name>[a-z]\w*)(?P<value>)\s*(?:\)\s*=>|\|)`)
	// function is one without parameters that belongs to no type.
	function = lazyregexp.New(`(?m)^(?:pub(?:\([^)]*\))?\s+)?(?:const\s+)?fn\s+(?P<name>\w+)\s*\(\s*\)\s*->[^{;]*\{(?P<value>[^{}]*)\}`)
	// conversion is a macro, or a call that reads a text: neither names a value. sum is no text that another is added
	// to.
	conversion = lazyregexp.New(`\b[a-z_]+!(?:\(|\[)|\.\s*parse\s*(?:::\s*<[^<>]*>)?\s*\(\s*\)`)
	sum        = lazyregexp.New(`\+\s*[^&"=\s]`)
)

// namesIn returns the names in a source.
func namesIn(t *source.Text) *address.Names {
	for _, m := range t.FindAll(conversion, -1) {
		if t.Code[m[0]] != '.' {
			m[1]-- // the bracket of the macro
		}
		source.Blank(t.Code[m[0]:m[1]])
	}
	for _, m := range t.FindAll(sum, -1) {
		t.Code[m[0]] = '-'
	}
	names := address.Read(t, ";", variable, portSet, fieldSet, matched, bound, function)
	for _, m := range t.FindAll(assignment, -1) {
		name, _ := t.Group(assignment, m, "name")
		names.DeclareOption(name, "", source.Span{From: m[1] - 1, To: t.Until(m[1]-1, ",;")})
	}
	declareFields(names)
	return names
}

var (
	// option is the attribute of a field with an argument of clap or structopt, or with a variable of envconfig, and the
	// field.
	option = lazyregexp.New(`#\[\s*(?:arg|clap|structopt|envconfig)\s*\((?P<options>[^\]]*)\)\s*\]` +
		`(?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?(?P<name>\w+)\s*:`)
	optionVariable = lazyregexp.New(`\b(?:env|from)\b(?:\s*=\s*(?:"(\w+)"|(\w)))?`)
	optionDefault  = lazyregexp.New(`\bdefault(?:_value(?:_t|s|s_t)?)?\s*=\s*("[^"]*"|[^,]+)`)
	structHead     = lazyregexp.New(`\bstruct\s+\w+[^{;(]*\{`)
	literalHead    = lazyregexp.New(`(?:[=({;,|]|=>|\breturn)\s*(?:\w+::)*(?:Self|[A-Z]\w*)\s*\{`)
	// filled is in files whose structs get their values from settings.
	filled = lazyregexp.New(`\bDeserialize\b|\bFigment\b`)
	field  = lazyregexp.New(`^(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(?P<name>\w+)\s*(?::\s*|$)`)
)

// maxFields is how many structs, literals of them and attributes of fields of a source are looked at.
const maxFields = 64

// declareFields declares the fields of structs: what a literal or an attribute gives one is a default. A field that
// several structs have is not known.
func declareFields(names *address.Names) {
	structs := map[string]int{} // how many have a field
	eachField(names, structHead, func(name string, _ source.Span) { structs[name]++ })
	declare := func(name, variable string, value source.Span) {
		if structs[name] < 2 {
			names.DeclareOption(address.Field(name), variable, value)
		}
	}
	for _, m := range names.FindAll(option, maxFields) {
		name, _ := names.Group(option, m, "name")
		variable := ""
		if v := optionVariable.FindSubmatch(names.Raw[m[2]:m[3]]); v != nil && len(v[2]) == 0 {
			variable = cmp.Or(string(v[1]), strings.ToUpper(name))
		}
		value := source.Span{From: m[3], To: m[3]}
		if v := optionDefault.FindSubmatchIndex(names.Code[m[2]:m[3]]); v != nil {
			value = source.Span{From: m[2] + v[2], To: m[2] + v[3]}
		}
		declare(name, variable, value)
	}
	if !names.Matches(filled) {
		eachField(names, literalHead, func(name string, value source.Span) { declare(name, "", value) })
	}
}

// eachField calls a function with the fields of the structs, or of the literals of structs, that begin with a head. The
// value of a field without one is the variable of its name.
func eachField(t *address.Names, head *lazyregexp.Regexp, do func(name string, value source.Span)) {
	for _, m := range t.FindAll(head, maxFields) {
		fields, _ := t.Arguments(m[1])
		for _, f := range fields {
			if is := field.FindSubmatchIndex(t.Code[f.From:f.To]); is != nil {
				value := source.Span{From: f.From + is[1], To: f.To}
				if is[1] == f.Len() {
					value.From = f.From + is[2]
				}
				do(t.Slice(source.Span{From: f.From + is[2], To: f.From + is[3]}), value)
			}
		}
	}
}
