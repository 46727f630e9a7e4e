package ruby

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// procfileRules are commands of process types that start a framework's server in place of the app's own code.
var procfileRules = []analyzer.Rule{
	{Code: lazyregexp.New(`(?m)^[\w-]+:.*\b(?:bundle exec|bin/)\s*gruf(?:\s|$)`), Proves: finding.Registers(gruf)},
	{Code: lazyregexp.New(`(?m)^[\w-]+:.*\bgruf\b.*\s--health-check\b`), Proves: finding.RegistersHealth},
	{
		Code:   lazyregexp.New(`(?m)^[\w-]+:.*\bGRUF_HEALTH_CHECK_ENABLED=[1-9].*\bgruf\b`),
		Proves: finding.RegistersHealth,
	},
	{
		Code:   lazyregexp.New(`(?m)^[\w-]+:.*\b(?:bundle exec|bin/)\s*anycable(?:\s|$)`),
		Proves: anyCableConfigured,
	},
}

var anyCableConfigured = finding.WithHealth(finding.Registers(anyCable))

// procfileAddress is the address argument of such a command.
var procfileAddress = lazyregexp.New(`(?m)^[\w-]+:.*\b(?:bundle exec|bin/)\s*(?:gruf|anycable)\s[^\n]*?` +
	`--(?:host|rpc-host)[ =]["']?(?P<port>[\w.:\[\]$]+)`)

var procfileGrammar = source.Grammar{source.LineComment("#")}

func analyzeProcfile(text []byte) *analyzer.Result[stub] {
	t := procfileGrammar.Read(text)
	found := append(analyzer.Findings(t, procfileRules, nil), analyzer.Listens(t, procfileAddress)...)
	return &analyzer.Result[stub]{Findings: found}
}

// anyCableAddress replaces rpc_host (by AnyCable's gem anyway_config).
const anyCableAddress = "ANYCABLE_RPC_HOST"

// analyzeAnyCable returns the addresses in anycable.yml for the server of AnyCable, at most one for each environment's
// section. The error is about the YAML.
func analyzeAnyCable(text []byte) (*analyzer.Result[stub], error) {
	documents, err := untrusted.ReadYAML(text)
	var found []finding.Finding
	for _, setting := range slices.Concat(documents...) {
		_, key, _ := strings.Cut(setting.Key, ".")
		// Environments that merge the same mapping share its lines.
		isKnown := func(f finding.Finding) bool { return finding.Where(f).Line == setting.Line }
		if key == "rpc_tls_cert" && setting.Value != "" {
			found = append(found, finding.SecurityAt(setting.Line, plan.Security{Transport: plan.TLS}))
		}
		if key != "rpc_host" || slices.ContainsFunc(found, isKnown) {
			continue
		}
		found = append(found,
			anyCableConfigured(finding.AtLine(setting.Line, "rpc_host: "+setting.Value), ""),
			finding.Listens(address.ByDefault(templateAddress(text, setting), anyCableAddress), ""))
	}
	return &analyzer.Result[stub]{Findings: found}, err
}

// templateDefault takes the default of an environment variable in a template: <%= ENV.fetch('PORT', 50051) %>,
// <%= ENV['PORT'] || 50051 %>.
var templateDefault = lazyregexp.New(
	`:\s*["']?(?P<before>[^"'<>\s]*)<%=\s*ENV(?:\.fetch\([^(),]*,\s*|\[[^\[\]]*\]\s*\|\|\s*)` +
		`["']?(?P<default>[\w.:\[\]]+)["']?\)?(?:\.to_\w)?\s*%>["']?\s*$`)

// templateAddress returns the address of a setting with a plain value or a template of Ruby.
func templateAddress(text []byte, setting untrusted.Setting) address.Address {
	lines := bytes.Split(text, []byte("\n"))
	if setting.Line > len(lines) || !bytes.Contains(lines[setting.Line-1], []byte("<%")) {
		return address.Setting(setting.Value, setting.Line)
	}
	m := templateDefault.FindSubmatch(bytes.TrimRight(lines[setting.Line-1], " \t\r"))
	if m == nil {
		return address.Setting("", setting.Line)
	}
	a := address.Setting(string(m[1])+string(m[2]), setting.Line)
	if variables := address.Variables(lines[setting.Line-1]); len(variables) == 1 && len(m[1]) == 0 {
		return address.ByDefault(a, variables[0])
	}
	return address.ByDefault(a, "")
}
