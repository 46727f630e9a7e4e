package dotnet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// analyzeSettings returns the ports in an appsettings.json. It returns nil where there are none.
func analyzeSettings(text []byte) (*analyzer.Result[extra], error) {
	var settings struct {
		URLs    string
		Kestrel struct {
			Endpoints map[string]struct{ URL, Protocols string }
		}
	}
	if err := json.Unmarshal(plainJSON(text), &settings); err != nil {
		return nil, fmt.Errorf("leaving out settings that are not JSON: %w", err)
	}
	var endpoints []endpoint
	for _, e := range settings.Kestrel.Endpoints {
		endpoints = append(endpoints, endpoint{
			address:   address.Setting(address.TrimScheme(e.URL), lineOf(text, "kestrel", e.URL)),
			http1Only: e.Protocols == "Http1", http2Only: e.Protocols == "Http2",
		})
	}
	if len(endpoints) == 0 && settings.URLs != "" {
		urls := address.Setting(address.TrimScheme(settings.URLs), lineOf(text, "urls", settings.URLs))
		endpoints = []endpoint{{address: urls}}
	}
	found := kestrelListeners(endpoints)
	if len(found) == 0 {
		return nil, nil
	}
	return &analyzer.Result[extra]{Findings: found}, nil
}

// lineOf returns the line, from 1, of the first string behind a key that has a value, or 0 for one that is written
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
	stringOrComment       = regexp.MustCompile(`(?s)"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/`)
	stringOrTrailingComma = regexp.MustCompile(`"(?:\\.|[^"\\])*"|,\s*[}\]]`)
)

// plainJSON returns settings without the comments and trailing commas that .NET's reader of JSON permits
// (Microsoft.Extensions.Configuration.Json).
func plainJSON(text []byte) []byte {
	text = stringOrComment.ReplaceAllFunc(source.TrimBOM(text), func(m []byte) []byte {
		if m[0] == '"' {
			return m
		}
		return []byte(" ")
	})
	return stringOrTrailingComma.ReplaceAllFunc(text, func(m []byte) []byte {
		if m[0] == '"' {
			return m
		}
		return m[len(m)-1:]
	})
}
