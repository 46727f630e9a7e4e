package elixir

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// services are the services of a server, or its endpoint, before the port.
const services = `(?:[\w.]+|\[[^\]]*\])\s*,\s*`

// listens are the listeners. The host of grpcbox, and of a port among options, is all interfaces without an option ip.
var listens = []analyzer.Listen{
	{Code: lazyregexp.New(`\bServer\.Supervisor\s*,[^{}]{0,200}?\bport:\s*(?P<address>[^\n,}]+)` + ip)},
	{Code: lazyregexp.New(`\bServer\.Supervisor\s*,\s*(?::start_link\s*,\s*)?\[?\s*\{\s*` + services +
		`(?P<address>[^\n,}]+)` + ip)},
	{Code: lazyregexp.New(`\blisten_opts(?::|\s*=>)\s*%\{(?:[^{}]|\{[^{}]*\})*?\bport(?::|\s*=>)\s*` +
		`(?P<address>[^\n,}]+)` + ip)},
	{Code: lazyregexp.New(`\bServer\.start(?:_endpoint)?\s*\(\s*` + services + `(?P<address>[^\n,)]+)` + ip)},
	namedOptions,
}

var namedOptions = analyzer.Listen{
	Code:  lazyregexp.New(`\bport:\s*(?P<address>[^\n,}\]]+)`),
	Needs: lazyregexp.New(`\bServer\.Supervisor\s*,\s*@?[a-z]\w*(?:\(\))?\s*\}`),
}

// ip is the host among the options behind a port.
const ip = `(?:[^\n{}]{0,200}?\bip(?::|\s*=>)\s*(?P<host>\{[^{}]*\}|[^\n,}\]]+))?`

// declarations are variables, module attributes and functions without parameters.
var declarations = []*lazyregexp.Regexp{
	lazyregexp.New(`(?m)^\s*(?P<name>\w+)\s*=\s+`),
	lazyregexp.New(`(?m)^\s*(?P<name>@\w+)[ \t]+`),
	lazyregexp.New(`(?m)^\s*defp?\s+(?P<name>\w+)(?:\(\))?\s*(?:,\s*do:|\bdo\b)\s*`),
}

// socket is the host of a Unix domain socket (grpc_server/lib/grpc/server/adapters/cowboy.ex).
var socket = lazyregexp.New(`\bip(?::|\s*=>)\s*\{\s*:local\s*,\s*"(?P<path>[ ]*)"`)

// transports are the transports of grpc-elixir (grpc_server/lib/grpc/server/adapters/cowboy.ex), and the transport_opts
// of grpcbox (src/grpcbox_pool.erl).
var transports = []analyzer.Rule{
	{Code: lazyregexp.New(`\bCredential\.new\b|\bcred:\s*[^\s,]*\bssl:`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\bssl(?::|\s*=>)\s*true\b`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\bcred:\s*nil\b|\btransport_opts(?::|\s*=>)\s*%\{\s*\}`), Proves: finding.Insecure},
	{Code: lazyregexp.New(`\b(?:cred|adapter_opts):\s*[a-z@][\w.()]*\s*[,\]})\n]`), Proves: variableCredential},
}

// variableCredential is the finding of a variable with credentials, none for nil.
func variableCredential(at *finding.Site, code string) finding.Finding {
	if nilCredential.MatchString(code) {
		return nil
	}
	return finding.UsesOther(at.Quiet(), code)
}

var nilCredential = lazyregexp.New(`:\s*nil\b`)

// listeners returns the listeners that a text starts or configures.
func listeners(t *source.Text) []finding.Finding {
	var found []finding.Finding
	for _, m := range t.FindAll(socket, maxSockets) {
		a := address.Parse("unix:" + string(t.Raw[m[2]:m[3]]))
		a.Place.Line = t.Line(m[0])
		found = append(found, finding.Listens(a, ""))
	}
	if found != nil {
		return found
	}
	return analyzer.Listeners(address.Read(t, "\n", declarations...), listens)
}

const maxSockets = 16
