package elixir

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// beforePort match what stands before the port of a server.
	beforePort = []*regexp.Regexp{
		regexp.MustCompile(`\bServer\.Supervisor\s*,[^{}]{0,200}?\bport:\s*`),
		regexp.MustCompile(`\bServer\.Supervisor\s*,\s*\[?\s*\{\s*(?:[\w.]+|\[[^\]]*\])\s*,\s*`),
		regexp.MustCompile(`\blisten_opts(?::|\s*=>)\s*%\{[^}]*?\bport(?::|\s*=>)\s*`),
		regexp.MustCompile(`\bServer\.start(?:_endpoint)?\s*\(\s*(?:[\w.]+|\[[^\]]*\])\s*,\s*`),
	}
	// declarations are variables and module attributes.
	declarations = []*regexp.Regexp{
		regexp.MustCompile(`(?m)^\s*(?P<name>\w+)\s*=\s+`),
		regexp.MustCompile(`(?m)^\s*(?P<name>@\w+)[ \t]+`),
	}
)

// listeners returns the ports of the servers that a text starts or configures, and the key of the setting that each
// asks for.
func listeners(t *source.Text) (found []analyzer.Finding, asked []string) {
	d := address.Read(t, "\n", declarations...)
	for _, pattern := range beforePort {
		for _, m := range t.FindAll(pattern, address.MaxListeners) {
			at := source.Span{From: m[1], To: t.Until(m[1], ",\n")}
			found = append(found, analyzer.NewListener(t, d.Port(at)))
			asked = append(asked, askedSetting(t, at))
		}
	}
	return found, asked
}
