package dotnet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// settingsFiles are the settings that hold in production. Properties/launchSettings.json is for `dotnet run` alone and
// is not published.
var settingsFiles = []string{"appsettings.json", productionSettings}

// productionSettings go before those in appsettings.json.
const productionSettings = "appsettings.Production.json"

// analyzeSettings returns the endpoints in an appsettings.json (dotnet/aspnetcore,
// src/Servers/Kestrel/Core/src/Internal/ConfigurationReader.cs).
func analyzeSettings(file string, text []byte) (*analyzer.Result[extra], error) {
	var settings struct {
		URLs    string
		Kestrel struct {
			Endpoints map[string]struct{ URL, Protocols string }
		}
	}
	plain := plainJSON(text)
	if !json.Valid(plain) {
		return nil, fmt.Errorf("leaving out settings that are not JSON")
	}
	_ = json.Unmarshal(plain, &settings) // a value of another type leaves out what it is in
	isProduction := path.Base(file) == productionSettings
	var result analyzer.Result[extra]
	add := func(key, url, written, protocols string) {
		e := urlEndpoint(url, lineOf(text, key, written))
		e.key, e.isProduction, e.isURL, e.protocols = key, isProduction, key == "urls", protocols
		result.Findings = append(result.Findings, e)
	}
	for _, name := range slices.Sorted(maps.Keys(settings.Kestrel.Endpoints)) {
		e := settings.Kestrel.Endpoints[name]
		add(strings.ToLower(name), e.URL, e.URL, e.Protocols)
	}
	for url := range strings.SplitSeq(settings.URLs, ";") {
		if url != "" {
			add("urls", url, settings.URLs, "")
		}
	}
	return &result, nil
}

// lineOf returns the line, from 1, of the first string after a key that has a value, or 0 for one that is written
// otherwise.
func lineOf(text []byte, key, value string) int {
	from := bytes.Index(bytes.ToLower(text), []byte(`"`+key+`"`))
	if from < 0 {
		return 0
	}
	at := bytes.Index(text[from:], []byte(`"`+value+`"`))
	if at < 0 {
		return 0
	}
	return bytes.Count(text[:from+at], []byte("\n")) + 1
}

var (
	stringOrComment       = lazyregexp.New(`(?s)"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/`)
	stringOrTrailingComma = lazyregexp.New(`"(?:\\.|[^"\\])*"|,\s*[}\]]`)
)

// plainJSON returns settings without the comments and trailing commas that .NET's reader of JSON permits
// (Microsoft.Extensions.Configuration.Json).
func plainJSON(text []byte) []byte {
	replaceUnquoted := func(pattern *lazyregexp.Regexp, by func(m []byte) []byte) {
		text = pattern.ReplaceAllFunc(text, func(m []byte) []byte {
			if m[0] == '"' {
				return m
			}
			return by(m)
		})
	}
	text = source.TrimBOM(text)
	replaceUnquoted(stringOrComment, func([]byte) []byte { return []byte(" ") })
	replaceUnquoted(stringOrTrailingComma, func(m []byte) []byte { return m[len(m)-1:] })
	return text
}
