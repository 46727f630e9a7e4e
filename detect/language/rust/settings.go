package rust

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// settingsStems are the names, without extensions, of files in which apps keep their settings. A file counts if a
// source of the app names it: the crates config and figment name it with its extension or without.
const settingsStems = `(config|settings|default|base|app|application|server|grpc)`

var (
	settingsFile  = source.Exactly(settingsStems + `\.(?:toml|ya?ml|json)`)
	settingsNamed = lazyregexp.New(`["/]` + settingsStems + `(?:\.(?:toml|ya?ml|json))?"`)
	// namesSettings are parts of the sources that name such a file.
	namesSettings = source.NewKeywords(`.toml"`, `.yaml"`, `.yml"`, `.json"`, "with_name(", "File::from")
)

// stem returns the name of a file without its extension.
func stem(file string) string {
	name := path.Base(file)
	return strings.TrimSuffix(name, path.Ext(name))
}

// namedSettings returns the names of the files with settings that a source names.
func namedSettings(text []byte) []string {
	if !namesSettings.In(text) {
		return nil
	}
	var names []string
	for _, m := range settingsNamed.FindAllSubmatch(text, maxConstants) {
		if name := string(m[1]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// analyzeSettings returns what a file with settings declares. Fields of the code have the names of its keys.
func analyzeSettings(file string, text []byte) (*analyzer.Result[extra], error) {
	result := &analyzer.Result[extra]{Extra: extra{IsSettings: true}}
	documents, err := untrusted.ReadSettings(file, text)
	if err != nil {
		err = fmt.Errorf("leaving out settings: %w", err)
	}
	for _, s := range slices.Concat(documents...) {
		name := strings.ReplaceAll(s.Key[strings.LastIndexByte(s.Key, '.')+1:], "-", "_")
		if len(result.Declares) == maxConstants || !listenName.MatchString(name) || s.Value == "" {
			continue
		}
		v := address.Setting(s.Value, s.Line)
		v.Certainty = min(v.Certainty, address.Default)
		result.Declares = append(result.Declares, address.Declaration{Name: "." + name, Value: v})
	}
	return result, err
}

// withSettings returns the files with the settings that sources of the app name. What a setting states is a field's
// value: that the field has none in the code says nothing then.
func withSettings(files []analyzer.File[extra]) []analyzer.File[extra] {
	named, set := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		for _, name := range f.Extra.Settings {
			named[name] = true
		}
	}
	files = slices.DeleteFunc(slices.Clone(files), func(f analyzer.File[extra]) bool {
		return f.Extra.IsSettings && !named[stem(f.Path)]
	})
	for _, f := range files {
		for _, d := range f.Declares {
			set[d.Name] = set[d.Name] || f.Extra.IsSettings
		}
	}
	for i, f := range files {
		files[i].Declares = slices.DeleteFunc(slices.Clone(f.Declares), func(d address.Declaration) bool {
			isEmpty := d.Value.Address == (address.Address{Place: plan.Place{Line: d.Place.Line}}) && len(d.Names) == 0
			return set[d.Name] && isEmpty && !f.Extra.IsSettings
		})
	}
	return files
}

// settingsOf returns what the files with settings of a crate state, by the names of fields.
func settingsOf(c *crate) map[string]address.Value {
	set := map[string]address.Value{}
	for _, f := range c.Files {
		for _, d := range f.Declares {
			if f.Extra.IsSettings {
				set[d.Name] = d.Value
			}
		}
	}
	return set
}

// decided returns the listener, without its address if settings state another one.
func (l configuredListener) decided(settings map[string]address.Value) finding.Listener {
	for _, name := range l.fields {
		if v, ok := settings[name]; ok && l.Address.Target() != "" && v.Target() != l.Address.Target() {
			l.Address = address.Value{Address: address.Address{Place: l.Address.Place}}
		}
	}
	return l.Listener
}
