package elixir

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	// beforePort match what stands before the port of a server.
	beforePort = []*lazyregexp.Regexp{
		lazyregexp.New(`\bServer\.Supervisor\s*,[^{}]{0,200}?\bport:\s*`),
		lazyregexp.New(`\bServer\.Supervisor\s*,\s*(?::start_link\s*,\s*)?\[?\s*\{\s*(?:[\w.]+|\[[^\]]*\])\s*,\s*`),
		lazyregexp.New(`\blisten_opts(?::|\s*=>)\s*%\{[^}]*?\bport(?::|\s*=>)\s*`),
		lazyregexp.New(`\bServer\.start(?:_endpoint)?\s*\(\s*(?:[\w.]+|\[[^\]]*\])\s*,\s*`),
	}
	// namedOptions are the options of a server by the name of a function without parameters, or of a variable.
	namedOptions = lazyregexp.New(`\bServer\.Supervisor\s*,\s*(?P<name>@?\w+)(?:\(\))?\s*\}`)
	portOption   = lazyregexp.New(`\bport:\s*`)
	// positionalPort is what stands before the port in options that are no more than the services and the port.
	positionalPort = lazyregexp.New(`^\s*\{\s*(?:[\w.]+(?:\([^()]*\))?|\[[^\]]*\])\s*,\s*`)
	// functionHead is that of a function without parameters, whose body has lines of its own.
	functionHead = lazyregexp.New(`(?m)^[ \t]*defp?\s+(?P<name>\w+)(?:\(\))?\s+do\b`)
	// declarations are variables, module attributes and functions without parameters.
	declarations = []*lazyregexp.Regexp{
		lazyregexp.New(`(?m)^\s*(?P<name>\w+)\s*=\s+`),
		lazyregexp.New(`(?m)^\s*(?P<name>@\w+)[ \t]+`),
		lazyregexp.New(`(?m)^\s*defp?\s+(?P<name>\w+)(?:\(\))?\s*(?:,\s*do:|\bdo\b)\s*`),
	}
	// appSetting asks for a setting: Application.get_env(:app, :grpc_port), also for a key within its value.
	appSetting = lazyregexp.New(`\bApplication\.(?:get_env|fetch_env!|compile_env!?)\(\s*:(?P<key>\w+)\s*,\s*:?` +
		`(?P<key2>[\w.]+)(?:[^()]*\)(?:\s*\|>\s*Keyword\.(?:get|fetch!)\(\s*|\[)\s*:(?P<key3>\w+))?(?P<default>)`)
)

// namesIn returns the names in a text. Settings alone reach across files.
func namesIn(t *source.Text) *address.Names {
	names := address.Read(t, "\n", declarations...)
	names.Keyed(appSetting)
	names.Global = address.KeysAlone
	return names
}

// listeners returns the addresses of the servers that a text starts or configures, and what carries their calls.
func listeners(t *source.Text) []finding.Finding {
	names := namesIn(t)
	var found []finding.Finding
	for _, pattern := range beforePort {
		for _, m := range t.FindAll(pattern, address.MaxListeners) {
			port := source.Span{From: m[1], To: t.Until(m[1], ",\n")}
			options := source.Span{From: m[0], To: t.Until(m[1], "")}
			found = append(found, finding.ListenerAt(listened(names, options, port)))
			found = append(found, security(names, options)...)
		}
	}
	for _, m := range t.FindAll(namedOptions, address.MaxListeners) {
		found = append(found, listenerNamed(names, source.Span{From: m[2], To: m[3]})...)
	}
	return append(found, grpcboxSecurity(names)...)
}

// listenerNamed returns the address and the security of a server whose options have a name. Each branch of a function
// may have options of its own: their port counts if all have the same. Options that are not seen may have credentials.
func listenerNamed(names *address.Names, name source.Span) []finding.Finding {
	seen := names.Reach(name)[1:]
	for _, m := range names.FindAll(functionHead, address.MaxListeners) {
		if head := (source.Span{From: m[2], To: m[3]}); names.Slice(head) == names.Slice(name) {
			seen = append(seen, source.Span{From: m[1], To: names.BodyEnd(m[1])})
		}
	}
	var listener address.Value
	ports, credentials, isSame := 0, 0, true
	for _, s := range seen {
		if m := positionalPort.FindIndex(names.Code[s.From:s.To]); m != nil {
			port := source.Span{From: s.From + m[1], To: names.Until(s.From+m[1], ",\n")}
			return []finding.Finding{finding.ListenerAt(listened(names, s, port))}
		}
		code := names.Code[s.From:s.To]
		credentials += len(credential.FindAllIndex(code, address.MaxListeners))
		for _, m := range portOption.FindAllIndex(code, address.MaxListeners) {
			from := s.From + m[1]
			v := listened(names, s, source.Span{From: from, To: names.Until(from, ",\n")})
			isSame = ports == 0 || isSame && v.Port == listener.Port
			if ports++; ports == 1 {
				listener = v
			}
		}
	}
	var found []finding.Finding
	if ports > 0 && isSame {
		found = append(found, finding.ListenerAt(listener))
	}
	if ports == 0 || credentials > 0 && credentials < ports {
		return append(found, finding.SecurityAt(names.Line(name.From), plan.Security{}))
	}
	for _, s := range seen {
		found = append(found, security(names, s)...)
	}
	return found
}

// ipOption is the host among the options of a server.
var ipOption = lazyregexp.New(`\bip(?::|\s*=>)\s*`)

// localAddress is the host that stands for a Unix domain socket (grpc_server/lib/grpc/server/adapters/cowboy.ex).
var localAddress = lazyregexp.New(`^\{\s*:local\s*,\s*`)

// listened returns the address that the options of a server state, with its port. Without a host that is all
// interfaces.
func listened(names *address.Names, options, port source.Span) address.Value {
	for _, r := range names.Reach(options) {
		m := ipOption.FindIndex(names.Code[r.From:r.To])
		if m == nil {
			continue
		}
		host := source.Span{From: r.From + m[1], To: names.Until(r.From+m[1], ",\n")}
		if m := localAddress.FindIndex(names.Code[host.From:host.To]); m != nil {
			return names.SocketAt(source.Span{From: host.From + m[1], To: host.To - 1})
		}
		return names.ValueOn(host, port)
	}
	v := names.Value(port)
	if v.Host == address.UnknownHost && !adapterOptions.MatchString(names.Slice(options)) {
		v.Host = address.AllInterfaces
	}
	return v
}
