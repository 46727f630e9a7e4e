package node

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

var (
	// settingsFile is the name of a file of settings that programs import, or that the package config reads
	// (config/default.json).
	settingsFile = regexp.MustCompile(
		`^(?:default|production|custom-environment-variables|[\w.-]*(?:config|settings|constants))\.json$`)
	// yamlSettings is the path of a file of settings that the package config reads. In an image NODE_ENV may be
	// production or not: what both files state differently is not known.
	yamlSettings = regexp.MustCompile(`(?:^|/)config/(?:default|production|custom-environment-variables)\.ya?ml$`)
)

const (
	// configPackage is the package that reads the files in config: its export has the settings for properties.
	configPackage = "config"
	// customVariables begins the name of the file that says which environment variables go before settings.
	customVariables = "custom-environment-variables"
)

// analyzeSettings returns the ports in a file of settings, which a module exports that imports it, and which are asked
// for by their keys. JSON is YAML, too. The error is about the YAML.
func analyzeSettings(file string, text []byte) (*analyzer.Result[extra], error) {
	if !bytes.Contains(bytes.ToLower(text), []byte("port")) {
		return nil, nil
	}
	documents, err := untrusted.ReadYAML(text)
	module := address.Value{Names: []address.Name{{Module: address.ThisFile, Path: "default"}}}
	declared := []address.Declaration{{Value: module}}
	for _, s := range slices.Concat(documents...) {
		v := address.Setting(address.TrimScheme(s.Value), s.Line)
		isKnown := v.Certainty != address.Unknown
		if strings.HasPrefix(path.Base(file), customVariables) {
			v, isKnown = address.Value{}, true
		}
		if isKnown && len(declared) < 2*maxSettings {
			declared = append(declared, address.Declaration{Name: "default." + s.Key, Value: v},
				address.Declaration{Name: address.Key(s.Key), Value: v})
		}
	}
	if len(declared) == 1 {
		return nil, err
	}
	return &analyzer.Result[extra]{Declares: declared}, err
}
