package rust

import (
	"cmp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// axum serves the routers made of tonic's Routes.
const axum = "axum"

// listens matches the calls with the addresses of servers, by framework.
var listens = map[string][]analyzer.Listen{
	tonic: {{Code: lazyregexp.New(`\.\s*serve(?:_with_\w+)?\s*\(`), Argument: 1}},
	volo:  {{Code: lazyregexp.New(`\.\s*run\s*\(`), Argument: 1}},
	grpcio: {
		{Code: lazyregexp.New(`\.\s*bind(?:_with_\w+)?\s*\(`), Argument: 2, Host: 1},
		{Code: lazyregexp.New(`\.\s*add_listening_port\s*\(`), Argument: 1},
	},
	poemGRPC:   {{Code: lazyregexp.New(`\bTcpListener::bind\s*\(`), Argument: 1}},
	connectRPC: {{Code: lazyregexp.New(`(?:\.\s*serve|\bServer::bind)\s*\(`), Argument: 1}},
	grpcRust:   {{Code: lazyregexp.New(`\.\s*set_(?:port|addr)\s*\(`), Argument: 1}},
	thruster:   {{Code: lazyregexp.New(`\.\s*start\s*\(`), Argument: 2, Host: 1}},
	axum: {{
		Code:     lazyregexp.New(`\baxum(?:::serve|::Server::bind|_server::(?:bind|from_tcp)(?:_\w+)?)\s*\(`),
		Argument: 1,
	}},
}

// security matches the transport security of a server.
var security = []analyzer.Rule{
	{
		Code: lazyregexp.New(`\.\s*(?P<at>(?:tls_config|with_tls|set_tls|rustls|native_tls|openssl_tls)\s*\()|` +
			`\baxum_server::(?:bind|from_tcp)_(?:rustls|openssl)\b|\bServerCredentialsBuilder\b`),
		Proves: finding.UsesTLS,
	},
	{Code: lazyregexp.New(`\bServerCredentials::insecure\b`), Proves: finding.Insecure},
	// Connections accepted with TLS, and credentials from elsewhere.
	{
		Code: lazyregexp.New(`(?i)\b\w*tls_?(?:acceptor|incoming|listener|stream)\w*|\bSslAcceptor\b|\baccept_tls\b|` +
			`\.\s*acceptor\s*\(|\.\s*(?:add_listening_port|bind_with_\w+)\s*\([^;]*,\s*\w+\s*\)`),
		Proves: finding.UsesOther,
	},
}

var (
	// clientTLS is in files with the TLS of a client, and serverTLS in files with the TLS of a server.
	clientTLS = lazyregexp.New(`\bClientTlsConfig\b`)
	serverTLS = lazyregexp.New(`\bServerTlsConfig\b|\bServerConfig\b|\bIdentity\b`)
)

// maxStated bounds the servers of a text, and the security findings.
const maxStated = 100

// listeners returns the findings with the listeners and the security of the servers. TLS under a condition, or from a
// different function than the server's, is unknown.
func listeners(t *source.Text, found []finding.Finding) []finding.Finding {
	kinds, functions := map[string]bool{}, map[int]bool{}
	blocks, names := source.FindBlocks(t), namesIn(t)
	for s := range finding.All[finding.Server](found) {
		kind := s.Framework
		if at := finding.Offset(s); t.Code[at] == '.' {
			kind = axum
		}
		if !kinds[kind] {
			kinds[kind], found = true, append(found, analyzer.Listeners(names, listens[kind])...)
		}
		if len(found) < maxStated {
			functions[blocks.Function(t, t.LogicalLine(finding.Offset(s)))] = true
		}
	}
	if len(kinds) == 0 || t.Matches(clientTLS) && !t.Matches(serverTLS) {
		return found
	}
	stated := analyzer.Findings(t, security, nil)
	for _, f := range stated[:min(len(stated), maxStated)] {
		line := t.LogicalLine(finding.Offset(f))
		if !functions[blocks.Function(t, line)] || len(blocks.Conditions(t, line)) > 0 {
			f = finding.UsesOther(finding.AtPlace(finding.Where(f), ""), "")
		}
		found = append(found, f)
	}
	return found
}

var (
	variable = lazyregexp.New(`\b(?:let|const|static)\s+(?:mut\s+|ref\s+)?(?P<name>\w+)\s*(?::[^=;]*)?=`)
	// function is a function without parameters, and no method of a type.
	function = lazyregexp.New(`(?m)^(?:pub(?:\([^)]*\))?\s+)?fn\s+(?P<name>\w+)\s*\(\s*\)\s*->[^{;]*` +
		`\{(?P<value>[^{}]*)\}`)
	// bound is a name for the content of a value, in an arm or a closure.
	bound = lazyregexp.New(`(?:\b(?:Ok|Some|Err)\(|\|)\s*(?P<name>[a-z]\w*)(?P<value>)\s*(?:\)\s*=|\|)`)
	// assignment changes the value of a variable, portSet of an address, and reference may change a variable.
	assignment = lazyregexp.New(`(?m)(?:^|;|\{\s|=>)\s*(?P<name>[a-z_]\w*)\s*=\s*`)
	portSet    = lazyregexp.New(`\b(?P<name>[a-z_]\w*)\s*\.\s*set_port\s*\(\s*`)
	reference  = lazyregexp.New(`&mut\s+(?P<name>[a-z_]\w*)\s*[,)]`)
	// conversion is a macro, or a call that reads a text: neither names a value. sum is of numbers: with texts, a
	// sum has an &.
	conversion = lazyregexp.New(`\b[a-z_]+!(?:\(|\[)|\.\s*parse\s*(?:::\s*<[^<>]*>)?\s*\(`)
	sum        = lazyregexp.New(`\+\s*[^&"=\s]`)
	// option is the attribute of a field with an argument of clap or structopt, or with a variable of envconfig.
	option = lazyregexp.New(`#\[\s*(?:arg|clap|structopt|envconfig)\s*\((?P<options>[^\]]*)\)\s*\]` +
		`(?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?(?P<name>\w+)\s*:`)
	optionVariable = lazyregexp.New(`\b(?:env|from)\b(?:\s*=\s*(?:"(\w+)"|(\w)))?`)
	optionDefault  = lazyregexp.New(`\bdefault(?:_value(?:_t|s|s_t)?)?\s*=\s*("[^"]*"|[^,]+)`)
	// field is a field of a struct, alone on a line.
	field = lazyregexp.New(`(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?(?P<name>\w+)\s*:\s*[\w:<>]+,?[ \t\r]*$`)
)

// namesIn returns the names in a source. A field of several structs is unknown.
func namesIn(t *source.Text) *address.Names {
	for _, m := range t.FindAll(conversion, -1) {
		source.Blank(t.Code[m[0] : m[1]-1])
	}
	for _, m := range t.FindAll(sum, -1) {
		t.Code[m[0]] = '-'
	}
	names := address.Read(t, ";", variable, function, bound, assignment, portSet)
	for _, again := range []*lazyregexp.Regexp{assignment, reference, portSet} {
		for _, m := range t.FindAll(again, -1) {
			name, _ := t.Group(again, m, "name")
			names.DeclareOption(name, "", source.Span{From: m[1], To: m[1]})
		}
	}
	fields := t.Names(field)
	slices.Sort(fields)
	for _, m := range t.FindAll(option, -1) {
		name, _ := t.Group(option, m, "name")
		if i, ok := slices.BinarySearch(fields, name); ok && i+1 < len(fields) && fields[i+1] == name {
			continue
		}
		variable, value := "", source.Span{From: m[3], To: m[3]}
		if v := optionVariable.FindSubmatch(t.Raw[m[2]:m[3]]); v != nil && len(v[2]) == 0 {
			variable = cmp.Or(string(v[1]), strings.ToUpper(name))
		}
		if v := optionDefault.FindSubmatchIndex(t.Code[m[2]:m[3]]); v != nil {
			value = source.Span{From: m[2] + v[2], To: m[2] + v[3]}
		}
		names.DeclareOption(address.Field(name), variable, value)
	}
	return names
}
