package golang

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// isSettings reports whether a file may hold the settings of an app: by the name that people give it, or because the
// tool of a framework puts it there: configs/config.yaml for kratos, etc/orders.yaml for go-zero.
func isSettings(file string) bool {
	return values.SettingsFile.MatchString(path.Base(file)) || dubboSettings.MatchString(path.Base(file)) ||
		isFrameworkSettings(file)
}

func isFrameworkSettings(file string) bool {
	if !slices.Contains(settingsEndings, path.Ext(file)) {
		return false
	}
	dir := path.Base(path.Dir(file))
	return dir == "etc" || dir == "configs"
}

var (
	// settingsEndings are the endings of files with settings that the frameworks read.
	settingsEndings = []string{".yaml", ".yml", ".json", ".toml"}
	// addressKeys are the settings with the address of a gRPC server: go-zero's, and kratos' as its tool writes it.
	addressKeys      = []string{"ListenOn", "server.grpc.addr"}
	settingsKeywords = source.NewKeywords("ListenOn", "grpc")
)

// analyzeSettings returns the ports that settings name: those that may be ports or addresses are kept, and those that
// may turn the health service on.
func analyzeSettings(file string, text []byte) (*analyzer.Result[Extra], error) {
	hasPort := slices.ContainsFunc(slices.Collect(bytes.Lines(text)), values.HasPortNumber)
	if !hasPort && !bytes.Contains(text, []byte("${")) {
		return nil, nil
	}
	documents, err := untrusted.ReadSettings(file, text)
	settings := map[string]values.Setting{}
	for _, s := range slices.Concat(documents...) {
		key := strings.ToLower(s.Key)
		delete(settings, key) // the last one counts
		set := withDefault(s)
		isKept := set.By != "" || mayBeAddress.MatchString(set.Value) || strings.Contains(key, "health")
		if isKept && len(settings) < maxSettings {
			settings[key] = set
		}
	}
	result := &analyzer.Result[Extra]{Extra: Extra{Settings: settings}}
	if isFrameworkSettings(file) && settingsKeywords.In(text) {
		result.Findings = addressSetting(documents)
	}
	result.Findings = slices.Concat(result.Findings, yokaiFinds(file, documents), dubboFinds(file, documents))
	return result, err
}

// placeholder is a value that ends with what the environment gives, as shells write it, or with a setting as kratos
// writes it, which may be a variable with a prefix: ":${PORT:-9000}", "${GRPC_ADDR:0.0.0.0:9000}" (config/reader.go).
var placeholder = source.Exactly(`([\w.:\[\]-]*)\$\{(\w[\w.]*)(?:(:-|:)([^{}$]*))?\}`)

// withDefault returns a setting, or the default of the placeholder that it is.
func withDefault(s untrusted.Setting) values.Setting {
	set := values.Setting{Value: s.Value, Line: s.Line}
	m := placeholder.FindStringSubmatch(s.Value)
	if m == nil {
		return set
	}
	set.Value, set.By = m[1]+m[4], "$"+m[2]
	if m[3] == ":" {
		set.By = "a setting"
	}
	return set
}

var mayBeAddress = source.Exactly(`(?:[\w.-]*|\[[\w:]*\]|https?://[\w.-]*):\d{2,5}|\d{2,5}`)

// maxSettings is how many settings of one file are kept.
const maxSettings = 1000

// addressSetting returns the listener that the settings of a framework's server name, and whether they turn its health
// service off.
func addressSetting(documents []untrusted.Document) []finding.Finding {
	for _, document := range documents {
		for _, key := range addressKeys {
			if a, ok := document.Get(key); ok {
				findings := []finding.Finding{finding.ListenerAt(addressOf(withDefault(a)))}
				if s, ok := document.Get("Health"); ok && s.Value == "false" { // go-zero's switch
					findings = append(findings, finding.HealthDisabled{Site: finding.AtLine(s.Line, "")})
				}
				return findings
			}
		}
	}
	return nil
}

// addressOf returns the address that a setting states.
func addressOf(s values.Setting) address.Value {
	a := address.Setting(s.Value, s.Line)
	if variable, ok := strings.CutPrefix(s.By, "$"); ok {
		a.Variable = variable
	}
	if s.By != "" && a.Certainty != address.Unknown {
		a.Certainty = address.Default
	}
	return a
}
