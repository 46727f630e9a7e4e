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

// loadedFor returns the values of a key in settings files: those of the programs that a directory belongs to, if there
// are any, and otherwise all. A file belongs to the directory that it lies in, or that has the folder with settings.
func (s *Sources) loadedFor(key, dir string) []expression {
	all := s.loaded[strings.ToLower(key)]
	var own []expression
	for _, x := range all {
		of := path.Dir(x.constant.at.Path)
		if settingsFolder.MatchString(path.Base(of)) {
			of = path.Dir(of)
		}
		if of != "." && (dir == of || strings.HasPrefix(dir, of+"/")) {
			own = append(own, x)
		}
	}
	if own != nil {
		return own
	}
	return all
}

// settingsFolder are names of folders with settings files.
var settingsFolder = source.Exactly(`(?i)(?:conf|config|env|setting|resource)s?|etc|deploy`)
