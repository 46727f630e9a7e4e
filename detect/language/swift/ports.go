package swift

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// value is an argument.
const (
	value       = `(?:[^(),]|\([^()]*(?:\([^()]*\)[^()]*)*\))+`
	hostAndPort = `(?:host\s*:\s*(?P<host>` + value + `),\s*)?port\s*:\s*(?P<address>` + value + `)`
)

// listens are the listeners of grpc-swift 2, and of grpc-swift 1 by builder or configuration.
var listens = []analyzer.Listen{
	{Code: lazyregexp.New(`\baddress\s*:\s*\.ipv[46]\s*\(\s*` + hostAndPort)},
	{Code: lazyregexp.New(`\.\s*bind\s*\(\s*` + hostAndPort)},
	{Code: lazyregexp.New(`\bServer\.Configuration(?:\.default)?\s*\([^;]{0,200}?\.hostAndPort\s*\(` +
		`(?P<host>` + value + `),\s*(?P<address>` + value + `)`)},
}

var (
	// socket is a server's Unix domain socket.
	socket = lazyregexp.New(`(?:\.\s*bind\s*\(\s*|\baddress\s*:\s*\.)unixDomainSocket(?:Path\s*:|\s*\(\s*path\s*:)\s*` +
		`"(?P<path> +)"`)
	// binding is a name in a condition, with a value up to the end of the condition. declaration is any other name.
	binding = lazyregexp.New(`\b(?:if|guard|while)\s+(?:let|var)\s+(?P<name>\w+)\s*(?::\s*[\w.]+\??\s*)?=\s*` +
		`(?P<value>(?:[^{}(),\n]|\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))+)`)
	declaration = lazyregexp.New(`\b(?:if|guard|while)\s+(?:let|var)\s+\w+|` +
		`\b(?:let|var)\s+(?P<name>\w+)\s*(?::\s*[\w.]+\??\s*)?=\s*`)
	// option is a property from the command line (swift-argument-parser), assignment another value of a variable, and
	// inOut an argument that a call may set.
	option     = lazyregexp.New(`@Option\b(?:\([^\n]*\))?\s*(?:\w+\s+)*?var\s+(?P<name>\w+)\b`)
	assignment = lazyregexp.New(`(?m)(?:^|[;)]|\{\s)\s*(?P<name>\w+)\s*=\s*`)
	inOut      = lazyregexp.New(`[(,:]\s*&(?P<name>[a-z_]\w*)\s*[,)]`)
)

func listeners(t *source.Text) []finding.Finding {
	names := address.Read(t, "\n;,", declaration, binding, assignment)
	for _, again := range []*lazyregexp.Regexp{option, assignment, inOut} {
		for _, m := range t.FindAll(again, -1) {
			name, _ := t.Group(again, m, "name")
			names.DeclareOption(name, "", source.Span{From: m[1], To: m[1]})
		}
	}
	found := analyzer.Listeners(names, listens)
	for _, m := range t.FindAll(socket, -1) {
		path, _ := t.Group(socket, m, "path")
		a := address.Parse("unix:" + path)
		a.Place.Line = t.Line(m[1])
		found = append(found, finding.Listens(a, ""))
	}
	return found
}

// transports are the transports of grpc-swift 2, in a required argument, and of grpc-swift 1.
var transports = []analyzer.Rule{
	{
		Code: lazyregexp.New(`\baddress\s*:\s*[\w.]+\s*(?:\(` + value + `(?:,` + value + `)*\))?\s*,\s*` +
			`transportSecurity\s*:\s*(?P<at>\.?\w+)`),
		Proves: told,
	},
	{
		Code: lazyregexp.New(`\bServer\.(?:usingTLS\w*|secure)\s*\(|\bmakeServerConfiguration\w*\s*\(|` +
			`\btls\s*:\s*\.init\s*\(\s*certificateChain`),
		Proves: finding.UsesTLS,
	},
	{Code: lazyregexp.New(`\bServer\.insecure\s*\(`), Proves: finding.Insecure},
}

// told is the finding of the argument for the security of a transport.
func told(at *finding.Site, code string) finding.Finding {
	switch code {
	case ".plaintext":
		return finding.Insecure(at, code)
	case ".tls", ".mTLS":
		return finding.UsesTLS(at, code)
	}
	return finding.UsesOther(at, code)
}
