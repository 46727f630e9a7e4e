package values

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Setting is the value of a setting and its line.
type Setting struct {
	Value string
	Line  int
}

// SettingsFile are the names that people give to files with the settings of an app.
var SettingsFile = source.Exactly(`(?:\.|\w*(?:app|application|conf|config|settings|server|default|local|prod))?` +
	`(?:\.(?:prod|production))?\.(?:ya?ml|json|toml|env)`)

// AddSettings adds the settings of a file, if a source names it: by its name, or without its extension to viper. What a
// file states goes before the defaults that the sources give to settings.
func (s *Sources) AddSettings(file string, settings map[string]Setting) {
	name := path.Base(file)
	if !s.named[name] && !s.named[strings.TrimSuffix(name, path.Ext(name))] {
		return
	}
	for key, from := range settings {
		at := plan.Place{Path: file, Line: from.Line}
		s.loaded[key] = append(s.loaded[key], expression{constant: &value{text: from.Value, at: at}})
	}
}
