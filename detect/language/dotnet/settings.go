package dotnet

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// settingsFiles are the settings for production. Properties/launchSettings.json is for `dotnet run` only and is not
// published.
var settingsFiles = []string{"appsettings.json", productionSettings}

// productionSettings take precedence over appsettings.json.
const productionSettings = "appsettings.Production.json"

const urlsKey = "urls"

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
		return nil, errors.New("leaving out settings that are not JSON")
	}
	_ = json.Unmarshal(plain, &settings) // a value of another type is left out
	var result analyzer.Result[extra]
	add := func(key, url, written, protocols string) {
		e := urlEndpoint(url, lineOf(text, written))
		e.isProduction, e.isURL = path.Base(file) == productionSettings, key == urlsKey
		e.key, e.protocols = strings.ToLower(key), protocols
		result.Findings = append(result.Findings, e)
	}
	for _, name := range slices.Sorted(maps.Keys(settings.Kestrel.Endpoints)) {
		e := settings.Kestrel.Endpoints[name]
		add("endpoints:"+name, e.URL, e.URL, e.Protocols)
	}
	for url := range strings.FieldsFuncSeq(settings.URLs, func(c rune) bool { return c == ';' }) {
		add(urlsKey, url, settings.URLs, "")
	}
	return &result, nil
}

// lineOf returns the line, from 1, of the first string with a value, or 0 if the value is written otherwise.
func lineOf(text []byte, value string) int {
	before, _, ok := bytes.Cut(text, []byte(`"`+value+`"`))
	if !ok {
		return 0
	}
	return bytes.Count(before, []byte("\n")) + 1
}

// notPlain matches comments, and commas after the last element, which .NET's reader of JSON permits. Strings stay as
// they are (Microsoft.Extensions.Configuration.Json).
var notPlain = lazyregexp.New(`(?s)("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(\s*[}\]])`)

// plainJSON returns settings without matches of notPlain. Behind a comma there may be a comment: hence two rounds.
func plainJSON(text []byte) []byte {
	text = source.TrimBOM(text)
	for range 2 {
		text = notPlain.ReplaceAll(text, []byte("$1$2"))
	}
	return text
}
