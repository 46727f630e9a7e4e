package ruby

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// procfileRules are the commands of process types that start the server of a framework, in place of the app's own code.
var procfileRules = []analyzer.Rule{
	{Code: regexp.MustCompile(`(?m)^[\w-]+:.*\b(?:bundle exec|bin/)\s*gruf(?:\s|$)`), Finding: registered(gruf)},
	{Code: regexp.MustCompile(`(?m)^[\w-]+:.*\bgruf\b.*\s--health-check\b`), Finding: healthRegistered},
	{Code: regexp.MustCompile(`(?m)^[\w-]+:.*\bGRUF_HEALTH_CHECK_ENABLED=[1-9].*\bgruf\b`), Finding: healthRegistered},
	{
		Code: regexp.MustCompile(
			`(?m)^[\w-]+:.*\b(?:bundle exec|bin/)\s*(?:gruf|anycable)\s[^\n]*?` +
				`--(?:host|rpc-host)[ =]["']?(?P<port>[\w.:\[\]$]+)`),
		Finding: analyzer.Finding{Kind: analyzer.Listener},
	},
	{
		Code:    regexp.MustCompile(`(?m)^[\w-]+:.*\b(?:bundle exec|bin/)\s*anycable(?:\s|$)`),
		Finding: withHealth(registered(anyCable)),
	},
}

var procfileGrammar = source.Grammar{source.LineComment("#")}

// analyzeProcfile returns what the commands of a Procfile prove, or nil.
func analyzeProcfile(text []byte) *analyzer.Result[stub] {
	findings := analyzer.Match(procfileGrammar.Read(text), procfileRules, nil)
	if findings == nil {
		return nil
	}
	return &analyzer.Result[stub]{Findings: findings}
}

// analyzeAnyCable returns the addresses that anycable.yml gives the server of AnyCable: one for each environment's
// section that has one. The error is about the YAML.
func analyzeAnyCable(text []byte) (*analyzer.Result[stub], error) {
	documents, err := untrusted.ReadYAML(text)
	var findings []analyzer.Finding
	for _, document := range documents {
		for _, setting := range document {
			_, key, _ := strings.Cut(setting.Key, ".")
			// Environments that merge the same mapping share its lines.
			isKnown := func(f analyzer.Finding) bool { return f.Line == setting.Line }
			if key != "rpc_host" || slices.ContainsFunc(findings, isKnown) {
				continue
			}
			server := withHealth(registered(anyCable))
			listener := analyzer.Finding{Kind: analyzer.Listener, Port: templatePort(text, setting)}
			findings = append(findings,
				server.At(setting.Line, source.Excerpt([]byte("rpc_host: "+setting.Value))),
				listener.At(setting.Line, ""))
		}
	}
	if findings == nil {
		return nil, err
	}
	return &analyzer.Result[stub]{Findings: findings}, err
}

// analyzeSettings returns the ports in a file of settings.
func analyzeSettings(text []byte) (*analyzer.Result[stub], error) {
	documents, err := untrusted.ReadYAML(text)
	found := map[string]analyzer.Finding{}
	for _, document := range documents {
		for _, setting := range document {
			port := templatePort(text, setting)
			if port != address.UnknownPort && len(found) < maxSettings {
				listener := analyzer.Finding{Kind: analyzer.Listener, Port: port}
				found["Settings."+setting.Key] = listener.At(setting.Line, "")
			}
		}
	}
	if len(found) == 0 {
		return nil, err
	}
	return &analyzer.Result[stub]{Extra: stub{settings: found}}, err
}

// templateDefault takes the default of an environment variable in a template: <%= ENV.fetch('PORT', 50051) %>,
// <%= ENV['PORT'] || 50051 %>.
var templateDefault = regexp.MustCompile(
	`:\s*["']?(?P<before>[^"'<>\s]*)<%=\s*ENV(?:\.fetch\([^(),]*,\s*|\[[^\[\]]*\]\s*\|\|\s*)` +
		`["']?(?P<default>[\w.:\[\]]+)["']?\)?(?:\.to_\w)?\s*%>["']?\s*$`)

// templatePort returns the port of a setting, whose value may be a template of Ruby.
func templatePort(text []byte, setting untrusted.Setting) int {
	lines := bytes.Split(text, []byte("\n"))
	if setting.Line > len(lines) || !bytes.Contains(lines[setting.Line-1], []byte("<%")) {
		return address.ParsePort(setting.Value)
	}
	m := templateDefault.FindSubmatch(bytes.TrimRight(lines[setting.Line-1], " \t\r"))
	if m == nil {
		return address.UnknownPort
	}
	return address.ParsePort(string(m[1]) + string(m[2]))
}
