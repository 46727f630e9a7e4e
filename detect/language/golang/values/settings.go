package values

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Setting is the value of a setting and its line.
type Setting struct {
	Value string
	Line  int
	// By is what replaces the value: a variable, as "$PORT", or another setting; "" for nothing.
	By string
}

// SettingsFile are the names that people give to files with the settings of an app.
var SettingsFile = source.Exactly(`(?:\.|[\w-]*(?:app|application|conf|config|settings|server|default|local|prod))?` +
	`(?:[-._](?:prod|production|local|docker|default|dev|development))?\.(?:ya?ml|json|toml|env)`)

// namesSettings reports whether a text in a source is the path of a settings file, by its name or by its folder.
func namesSettings(text string) bool {
	switch path.Ext(text) {
	case ".yaml", ".yml", ".json", ".toml":
		return SettingsFile.MatchString(path.Base(text)) || settingsFolder.MatchString(path.Base(path.Dir(text)))
	case ".env":
		return SettingsFile.MatchString(path.Base(text))
	}
	return false
}

// AddSettings adds the settings of a file, if a source names it: by its name, without its extension to viper, or by its
// folder to kratos. What a file states goes before the defaults that the sources give to settings.
func (s *Sources) AddSettings(file string, settings map[string]Setting) {
	s.nameSettings()
	name := path.Base(file)
	if !s.named[name] && !s.named[strings.TrimSuffix(name, path.Ext(name))] && !s.named[folderOf(file)] {
		return
	}
	for key, from := range settings {
		at := plan.Place{Path: file, Line: from.Line}
		s.loaded[key] = append(s.loaded[key], expression{constant: &value{text: from.Value, at: at, setting: from.By}})
	}
}

// folderOf returns the name of the folder that a file is in, as named has it.
func folderOf(file string) string { return path.Base(path.Dir(file)) + "/" }

// nameSettings adds the names that programs calculate for viper and kratos, after the last source was added.
func (s *Sources) nameSettings() {
	s.nameEach(s.calculated, "")
	s.nameEach(s.folders, "/")
	s.calculated, s.folders = nil, nil
}

// nameEach adds the last parts of names that are known, each with a suffix.
func (s *Sources) nameEach(names []expression, suffix string) {
	for _, name := range names {
		s.begin()
		for _, v := range s.evaluate(name, 0) {
			if !v.isUnknown() && v.text != "" {
				s.named[path.Base(v.text)+suffix] = true
			}
		}
	}
}

// AddModule adds the directory of a module.
func (s *Sources) AddModule(dir string) { s.modules[dir] = true }

// ModuleOf returns the directory of the module that a file belongs to.
func (s *Sources) ModuleOf(file string) string {
	for dir := range tree.Ancestors(file) {
		if s.modules[dir] {
			return dir
		}
	}
	return "."
}

// loadedFor returns the values of a key in settings files: those of the programs that a directory belongs to, if there
// are any, and otherwise all that no other module or program has. A file belongs to the directory that it lies in, or
// that has the folder with settings.
func (s *Sources) loadedFor(key, dir string) []expression {
	var all, own, given []expression
	module := s.ModuleOf(path.Join(dir, "file"))
	for _, x := range s.loaded[strings.ToLower(key)] {
		of := path.Dir(x.constant.at.Path)
		if s.started[x.constant.at.Path] {
			given = append(given, x)
		}
		if has := s.ModuleOf(x.constant.at.Path); has != module && has != "." {
			continue
		}
		if settingsFolder.MatchString(path.Base(of)) {
			of = path.Dir(of)
		}
		if of != "." && (tree.IsWithin(dir, of) || s.program != "" && tree.IsWithin(s.program, of)) {
			own = append(own, x)
		}
		if !s.isOfOther(of, dir) {
			all = append(all, x)
		}
	}
	switch {
	case given != nil: // another file of the same name is for something else
		return given
	case own != nil:
		return own
	}
	return all
}

// isOfOther reports whether a directory with settings is that of a program, and the one that asks lies with another.
func (s *Sources) isOfOther(settings, dir string) bool {
	if !s.bound.holdPrograms[settings] {
		return false
	}
	for ; dir != "." && !tree.IsWithin(settings, dir); dir = path.Dir(dir) {
		if s.bound.holdPrograms[dir] {
			return true
		}
	}
	return false
}

// defaultsFor returns the defaults that sources give the setting of a key: those of the module of a directory, if it
// has any, because each service of a monorepo has its own.
func (s *Sources) defaultsFor(key, dir string) []expression {
	all := s.ofProgram(s.settings[strings.ToLower(key)])
	var own []expression
	for _, x := range all[:min(len(all), maxOrigins)] {
		if s.ModuleOf(x.in.path) == s.ModuleOf(path.Join(dir, "file")) {
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
