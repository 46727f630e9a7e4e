package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// The settings files of the frameworks. An app of GoFr has variables in configs/.env, and variables of an environment
// beside (pkg/gofr/config/godotenv.go).
var (
	settingsEndings = []string{".yaml", ".yml", ".json", ".toml"}
	settingsDir     = source.Exactly(`etc|configs?`)
	gofrFile        = source.Exactly(`\.(?:[\w-]+\.)?env`)
	dubboSettings   = source.Exactly(`dubbogo\.ya?ml`)
	yokaiSettings   = source.Exactly(`config(?:\.(\w+))?\.ya?ml`)
)

func isSettings(file string) bool {
	dir, name := path.Base(path.Dir(file)), path.Base(file)
	return settingsDir.MatchString(dir) && slices.Contains(settingsEndings, path.Ext(file)) ||
		dubboSettings.MatchString(name) || yokaiSettings.MatchString(name) || isGofrSettings(file)
}

func isGofrSettings(file string) bool {
	return gofrFile.MatchString(path.Base(file)) && path.Base(path.Dir(file)) == "configs"
}

const (
	gofrVariable = "GRPC_PORT"
	gofrPort     = 9000 // pkg/gofr/default.go

	// The settings of yokai's server. Each may come from an environment variable of the same name (config/factory.go).
	yokaiServer   = "modules.grpc.server."
	yokaiVariable = "MODULES_GRPC_SERVER_ADDRESS"
	yokaiPort     = 50051 // the default (fxgrpcserver/module.go)
)

// analyzeSettings returns the findings of a settings file of go-zero, of kratos in the form of the kratos tool, of
// yokai, dubbo-go or GoFr.
func analyzeSettings(file string, text []byte) (*analyzer.Result[Extra], error) {
	if isGofrSettings(file) {
		a, ok := address.EnvironmentFile(text)[gofrVariable]
		if !ok {
			return nil, nil
		}
		a.Host = plan.AllInterfaces
		return &analyzer.Result[Extra]{Findings: []finding.Finding{finding.Listens(a, "")}}, nil
	}
	documents, err := untrusted.ReadSettings(file, text)
	result := &analyzer.Result[Extra]{}
	for _, document := range documents {
		for _, key := range []string{"ListenOn", "server.grpc.addr"} {
			if s, ok := document.Get(key); ok && result.Findings == nil {
				result.Findings = append(result.Findings, settingListens(s, ""))
			}
		}
		if s, ok := document.Get("Health"); ok && s.Value == "false" && result.Findings != nil { // go-zero's switch
			result.Findings = append(result.Findings, finding.HealthDisabled{Site: finding.AtLine(s.Line, "")})
		}
		switch {
		case dubboSettings.MatchString(path.Base(file)):
			result.Extra.DubboTriple = result.Extra.DubboTriple || readDubbo(result, document)
		case yokaiSettings.MatchString(path.Base(file)):
			readYokai(result, file, document)
		}
	}
	return result, err
}

// settingListens returns the listener of a setting. A variable may replace the setting.
func settingListens(s untrusted.Setting, variable string) finding.Listener {
	text := s.Value
	m := placeholder.FindStringSubmatch(text)
	if m != nil {
		if text = m[1] + m[4]; m[3] != ":" {
			variable = m[2]
		}
	}
	a := address.Setting(text, s.Line)
	if m != nil || variable != "" {
		a = address.ByDefault(a, variable)
	}
	return finding.Listens(a, "")
}

// placeholder is a value that ends with an environment variable in the form of shells, or with a setting in the form of
// kratos, which may be a variable with a prefix: ":${PORT:-9000}", "${GRPC_ADDR:0.0.0.0:9000}" (config/reader.go).
var placeholder = source.Exactly(`([\w.:\[\]-]*)\$\{(\w[\w.]*)(?:(:-|:)([^{}$]*))?\}`)

// readYokai reads the settings in config.yaml and, for an environment of the app, in config.prod.yaml. Settings for
// tests are left out.
func readYokai(result *analyzer.Result[Extra], file string, document untrusted.Document) {
	environment := yokaiSettings.FindStringSubmatch(path.Base(file))[1]
	if environment == "test" {
		return
	}
	if s, ok := document.Get(yokaiServer + "address"); ok && s.Value != "" {
		result.Findings = append(result.Findings, settingListens(s, yokaiVariable))
	} else if first, ok := firstBelow(document, yokaiServer); ok && environment == "" {
		a := plan.Address{Port: yokaiPort, Certainty: plan.Default, Variable: yokaiVariable}
		a.Place.Line = first.Line
		result.Findings = append(result.Findings, finding.Listens(a, ""))
	}
	if s, ok := document.Get(yokaiServer + "healthcheck.enabled"); ok && s.Value == "true" {
		result.Findings = append(result.Findings, finding.Health{Site: finding.AtLine(s.Line, s.Key)})
	}
}

// dubboKey is the name of a protocol of dubbo-go: tri is Triple, which is gRPC.
var dubboKey = source.Exactly(`dubbo\.protocols\.([^.]+)\.name`)

// readDubbo reads the settings of dubbo-go, and reports whether the settings have a server of Triple.
func readDubbo(result *analyzer.Result[Extra], document untrusted.Document) bool {
	for _, s := range document {
		m := dubboKey.FindStringSubmatch(s.Key)
		if m == nil || s.Value != "tri" {
			continue
		}
		if port, ok := document.Get("dubbo.protocols." + m[1] + ".port"); ok {
			result.Findings = append(result.Findings, settingListens(port, ""))
		}
		says := plan.Security{Transport: plan.Plaintext}
		if _, hasTLS := firstBelow(document, "dubbo.tls"); hasTLS {
			says = plan.Security{}
		}
		result.Findings = append(result.Findings, finding.SecurityAt(s.Line, says))
		return true
	}
	return false
}

// firstBelow returns the first setting whose key begins with a prefix.
func firstBelow(document untrusted.Document, prefix string) (untrusted.Setting, bool) {
	for _, s := range document {
		if strings.HasPrefix(s.Key, prefix) {
			return s, true
		}
	}
	return untrusted.Setting{}, false
}
