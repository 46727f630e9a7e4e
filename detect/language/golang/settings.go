package golang

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// isSettings reports whether a file may hold the settings of an app: by the name that people give it, or because the
// tool of a framework puts it there: configs/config.yaml for kratos, etc/orders.yaml for go-zero.
func isSettings(file string) bool {
	return values.SettingsFile.MatchString(path.Base(file)) || isFrameworkSettings(file)
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

// analyzeSettings returns the ports that settings name.
func analyzeSettings(file string, text []byte) (*analyzer.Result[Extra], error) {
	if strings.HasSuffix(file, ".env") {
		return settingsResult(readEnv(text), nil), nil
	}
	if !slices.ContainsFunc(slices.Collect(bytes.Lines(text)), values.HasPortNumber) {
		return nil, nil
	}
	var documents []untrusted.Document
	var err error
	if strings.HasSuffix(file, ".toml") {
		documents = []untrusted.Document{readTOML(text)}
	} else {
		documents, err = untrusted.ReadYAML(text) // JSON is YAML
	}
	settings := map[string]values.Setting{}
	for _, document := range documents {
		for _, s := range document {
			settings[s.Key] = values.Setting{Value: s.Value, Line: s.Line}
		}
	}
	var findings []finding.Finding
	if isFrameworkSettings(file) && settingsKeywords.In(text) {
		findings = addressSetting(documents)
	}
	return settingsResult(settings, findings), err
}

// settingsResult returns the result of a file with settings. Those that may be ports or addresses are kept.
func settingsResult(settings map[string]values.Setting, findings []finding.Finding) *analyzer.Result[Extra] {
	kept := map[string]values.Setting{}
	for key, s := range settings {
		if mayBeAddress.MatchString(s.Value) && len(kept) < maxSettings {
			kept[strings.ToLower(key)] = s
		}
	}
	return &analyzer.Result[Extra]{Findings: findings, Extra: Extra{Settings: kept}}
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
				findings := []finding.Finding{finding.ListenerAt(address.Setting(a.Value, a.Line))}
				if s, ok := document.Get("Health"); ok && s.Value == "false" { // go-zero's switch
					findings = append(findings, finding.HealthDisabled{Site: finding.AtLine(s.Line, "")})
				}
				return findings
			}
		}
	}
	return nil
}

// readTOML returns the settings that TOML states, one per line.
func readTOML(text []byte) untrusted.Document {
	var settings untrusted.Document
	table, line := "", 0
	for l := range strings.Lines(string(text)) {
		line++
		l, _, _ = strings.Cut(strings.TrimSpace(l), " #")
		if name, ok := strings.CutPrefix(l, "["); ok {
			table = strings.TrimRight(name, "] ") + "."
			continue
		}
		key, value, ok := strings.Cut(l, "=")
		if ok && !strings.HasPrefix(l, "#") && len(settings) < maxSettings {
			settings = append(settings, untrusted.Setting{
				Key: table + strings.TrimSpace(key), Value: strings.Trim(strings.TrimSpace(value), `"'`), Line: line,
			})
		}
	}
	return settings
}

// readEnv returns the variables of a file of NAME=value lines.
func readEnv(text []byte) map[string]values.Setting {
	settings, line := map[string]values.Setting{}, 0
	for l := range strings.Lines(string(text)) {
		line++
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "export "), "=")
		if ok && !strings.HasPrefix(name, "#") {
			value = strings.Trim(strings.TrimSpace(value), `"'`)
			settings[strings.TrimSpace(name)] = values.Setting{Value: value, Line: line}
		}
	}
	return settings
}
