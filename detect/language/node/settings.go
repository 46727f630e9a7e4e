package node

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

var (
	// settingsFile is the name of a file of settings that programs import, or that the package config reads
	// (config/default.json).
	settingsFile = lazyregexp.New(
		`^(?:default|production|custom-environment-variables|[\w.-]*(?:config|settings|constants))\.json$`)
	// yamlSettings is the path of a file of settings that the package config reads. In an image NODE_ENV may be
	// production or not: what both files state differently is not known.
	yamlSettings = lazyregexp.New(`(?:^|/)config/(?:default|production|custom-environment-variables)\.ya?ml$`)
)

const (
	// configPackage is the package that reads the files in config: its export has the settings for properties.
	configPackage = "config"
	// customVariables begins the name of the file that says which environment variables go before settings.
	customVariables = "custom-environment-variables"
)

// analyzeSettings returns the ports in a file of settings, which a module exports that imports it, and which are asked
// for by their keys. JSON is YAML, too. The error is about the file.
func analyzeSettings(file string, text []byte) (*analyzer.Result[extra], error) {
	isOfPackage := settingsFile.MatchString(path.Base(file)) || yamlSettings.MatchString(file)
	isCustom := strings.HasPrefix(path.Base(file), customVariables)
	read := func(s untrusted.Setting, v address.Value) (address.Value, []string) {
		switch {
		case isCustom:
			v = address.Value{}
		case v.Certainty == address.Unknown:
			return v, nil
		}
		if !isOfPackage {
			return v, []string{"default." + s.Key}
		}
		return v, []string{"default." + s.Key, address.Key(s.Key)}
	}
	result, err := analyzer.Settings[extra](file, text, read)
	module := address.Value{Names: []address.Name{{Module: address.ThisFile, Path: "default"}}}
	result.Declares = append(result.Declares, address.Declaration{Value: module})
	return result, err
}
