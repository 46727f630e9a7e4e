package dotnet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// kestrelSettings is a section of Kestrel's endpoints, or of their defaults (dotnet/aspnetcore,
// src/Servers/Kestrel/Core/src/Internal/ConfigurationReader.cs).
type kestrelSettings struct {
	URL, Protocols, ClientCertificateMode string
	Certificate                           struct{ Path string }
}

// analyzeSettings returns the endpoints in an appsettings.json, and the settings that sources may ask for. It returns
// nil if there are none.
func analyzeSettings(text []byte) (*analyzer.Result[extra], error) {
	var settings struct {
		URLs    string
		Kestrel struct {
			Endpoints        map[string]kestrelSettings
			EndpointDefaults kestrelSettings
			Certificates     map[string]struct{ Path string }
		}
	}
	plain := plainJSON(text)
	var all any
	if err := json.Unmarshal(plain, &all); err != nil {
		return nil, fmt.Errorf("leaving out settings that are not JSON: %w", err)
	}
	result := &analyzer.Result[extra]{Declares: declaredSettings(text, all)}
	// A value of another type leaves out what it is in.
	_ = json.Unmarshal(plain, &settings)
	byDefault := settings.Kestrel.EndpointDefaults
	byDefault.Certificate.Path = settings.Kestrel.Certificates["Default"].Path
	for _, name := range slices.Sorted(maps.Keys(settings.Kestrel.Endpoints)) {
		e := settings.Kestrel.Endpoints[name]
		of := e.endpoint(byDefault, lineOf(text, "kestrel", e.URL))
		of.key = "endpoints:" + strings.ToLower(name)
		of.address.Givers = settingGivers("Kestrel:Endpoints:" + name + ":Url")
		result.Findings = append(result.Findings, of)
	}
	if settings.URLs != "" {
		for url := range strings.SplitSeq(settings.URLs, ";") {
			e := urlEndpoint(url, lineOf(text, "urls", settings.URLs))
			e.key, e.address.Givers = "urls", urlGivers
			result.Findings = append(result.Findings, e)
		}
	}
	if byDefault.Protocols != "" || byDefault.ClientCertificateMode != "" {
		result.Findings = append(result.Findings, kestrelDefaults{
			Site:           finding.AtLine(lineOf(text, "endpointdefaults", byDefault.Protocols), ""),
			protocols:      byDefault.Protocols,
			requiresClient: byDefault.ClientCertificateMode == requireCertificate,
		})
	}
	return result, nil
}

const requireCertificate = "RequireCertificate"

// endpoint returns the endpoint that a section is, with what holds by default.
func (s kestrelSettings) endpoint(byDefault kestrelSettings, line int) endpoint {
	says := schemeSecurity(s.URL)
	if says.IsTLS() {
		says.Certificate = certificate(s.Certificate.Path)
		if says.Certificate == "" {
			says.Certificate = certificate(byDefault.Certificate.Path)
		}
		if s.ClientCertificateMode == requireCertificate {
			says.Transport = plan.MutualTLS
		}
	}
	return newEndpoint(urlValue(s.URL, line), says, s.Protocols)
}

const (
	// maxSettings is how many settings of one file are declared, and maxSettingsDepth how deep they lie.
	maxSettings      = 200
	maxSettingsDepth = 8
)

// declaredSettings returns the settings that say where something listens, by their keys as sources ask for them: A:B.
func declaredSettings(text []byte, of any) []address.Declaration {
	var all []address.Declaration
	var walk func(key string, of any, depth int)
	walk = func(key string, of any, depth int) {
		if section, ok := of.(map[string]any); ok && depth < maxSettingsDepth {
			for name, value := range section {
				walk(strings.TrimPrefix(key+":"+name, ":"), value, depth+1)
			}
			return
		}
		value := fmt.Sprint(of)
		v := address.Setting(address.TrimScheme(value), 0)
		if listenName.MatchString(key) && v.Certainty != address.Unknown {
			v.Place.Line = lineOfKey(text, key[strings.LastIndexByte(key, ':')+1:], value)
			v.Certainty = address.Default
			all = append(all, address.Declaration{Name: settingName(key).Path, Value: v})
		}
	}
	walk("", of, 0)
	slices.SortFunc(all, func(a, b address.Declaration) int { return strings.Compare(a.Name, b.Name) })
	return all[:min(len(all), maxSettings)]
}

// settingName is the name of a setting, whose keys are the same in capitals and without (Microsoft.Extensions.
// Configuration, ConfigurationKeyComparer).
func settingName(key string) address.Name {
	return address.Name{Path: address.Key(strings.ToLower(strings.ReplaceAll(key, ".", ":")))}
}

// settingGivers returns what gives a setting when the process starts: an argument, or an environment variable, in whose
// name two underscores stand for a colon (Microsoft.Extensions.Configuration).
func settingGivers(key string) []string {
	return []string{address.FlagGiver(key), address.VariableGiver(strings.ReplaceAll(key, ":", "__"))}
}

// urlGivers give the URLs of a server before its settings do, and defaultGivers those of one whose settings have none
// (dotnet/aspnetcore, src/DefaultBuilder/src/WebHost.cs).
var (
	urlGivers     = []string{address.FlagGiver("urls"), address.VariableGiver("URLS")}
	defaultGivers = append(slices.Clip(urlGivers),
		address.VariableGiver("ASPNETCORE_URLS"), address.VariableGiver("DOTNET_URLS"),
		address.VariableGiver("ASPNETCORE_HTTP_PORTS"))
)

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

// lineOfKey returns the line, from 1, of the first key with a value, or 0 for one that is written otherwise.
func lineOfKey(text []byte, key, value string) int {
	for _, m := range jsonKey.FindAllSubmatchIndex(text, -1) {
		if string(text[m[2]:m[3]]) == key && bytes.HasPrefix(text[m[1]:], []byte(value)) {
			return bytes.Count(text[:m[0]], []byte("\n")) + 1
		}
	}
	return 0
}

var (
	jsonKey               = lazyregexp.New(`"([^"\n]*)"\s*:\s*"?`)
	stringOrComment       = lazyregexp.New(`(?s)"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/`)
	stringOrTrailingComma = lazyregexp.New(`"(?:\\.|[^"\\])*"|,\s*[}\]]`)
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
