package jvm

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Settings in HOCON are those of application.conf, unless the app loads another file by its name, or a property of the
// virtual machine names one (github.com/lightbend/config, README.md). What reference.conf says holds if they do not say
// otherwise.

const (
	// standardConf is the name of the settings that are loaded if nothing else is said, and anyConf stands for settings
	// that are not known.
	standardConf = "application"
	anyConf      = "*"
)

var (
	// loadCall is a call that loads settings, of Typesafe Config or of PureConfig.
	loadCall = lazyregexp.New(`\b(?:ConfigFactory|ConfigSource)\s*\.\s*(?P<method>load|default|` +
		`parseResources(?:AnySyntax)?|resources|parseString|string|parseFile(?:AnySyntax)?|file|parseURL|url|` +
		`parseReader|parseProperties)\b\s*(?P<open>\()?`)
	// loadsWords are in every source that has one, or that names a file for all of them.
	loadsWords = source.NewKeywords("ConfigFactory", "ConfigSource", "config.resource", "config.file", "config.url")
	// loadedConfig is an argument that has been loaded already, and classLoader one that names no settings.
	loadedConfig = lazyregexp.New(`^(?:ConfigFactory|ConfigSource|ConfigResolveOptions|ConfigParseOptions)\b`)
	classLoader  = lazyregexp.New(`lassLoader\b|^getClass\b`)
	// setsConf sets the property of the virtual machine that names the settings.
	setsConf = lazyregexp.New(`\bsetProperty\s*\(\s*"(?P<key>[ ]+)"\s*,\s*(?P<value>"[ ]*"\s*\))?`)
	// confOption is an option of the virtual machine in a build file that names the settings, and ofTests is on the
	// line of one that is for no image.
	confOption = lazyregexp.New(`(?m)^[^\n]*-Dconfig\.(?:resource|file|url)=[^\n]*$`)
	ofTests    = lazyregexp.New(`\b(?:[tT]est\w*|run|reStart|IntegrationTest)\b`)
)

// loads returns the names of the settings that a source loads, without their extension.
func (n *names) loads() []string {
	var all []string
	for _, m := range n.text.FindAll(loadCall, maxMembers) {
		method, _ := n.text.Group(loadCall, m, "method")
		var first source.Span
		if _, ok := n.text.Group(loadCall, m, "open"); ok {
			each, _ := n.text.Arguments(m[1])
			first = each[0]
			for _, s := range each {
				if strings.HasPrefix(method, "parseResources") && n.literal(s) != "" {
					first = s
				}
			}
		}
		if name := n.loaded(method, first); name != "" {
			all = append(all, name)
		}
	}
	for _, m := range n.text.FindAll(setsConf, maxMembers) {
		key, _ := n.text.Group(setsConf, m, "key")
		value, _ := n.text.Group(setsConf, m, "value")
		switch name := strings.Trim(value, `") `); {
		case key == "config.resource" && name != "":
			all = append(all, confName(name))
		case confProperty.MatchString(key):
			all = append(all, anyConf)
		}
	}
	return all
}

// confProperty is a property that names the settings.
var confProperty = source.Exactly(`config\.(?:resource|file|url)`)

// loaded returns the name of the settings that a method loads by its argument, "" for none.
func (n *names) loaded(method string, argument source.Span) string {
	switch method {
	case "default":
		return standardConf
	case "load":
		return n.loadedBy(argument)
	case "parseResources", "parseResourcesAnySyntax", "resources":
		if name := n.literal(argument); name != "" {
			return confName(name)
		}
	case "parseString", "string":
		if n.declaresText(argument) {
			return ""
		}
	}
	return anyConf
}

// loadedBy is [names.loaded] of ConfigFactory.load.
func (n *names) loadedBy(argument source.Span) string {
	code := n.text.Slice(argument)
	switch {
	case code == "" || classLoader.MatchString(code):
		return standardConf
	case n.literal(argument) != "":
		return confName(n.literal(argument))
	case loadedConfig.MatchString(code):
		return ""
	}
	if simpleName.MatchString(code) {
		isConfig := lazyregexp.New(`\b` + code + `\s*:\s*Config\b|\bConfig\s+` + code + `\b|` +
			`\b` + code + `\s*=\s*(?:ConfigFactory|\w+\s*\.\s*(?:withFallback|getConfig))\b`)
		if n.text.Matches(isConfig) {
			return ""
		}
	}
	return anyConf
}

// declaresText reports whether settings stand in the source, whose keys are then set to nothing that is known.
func (n *names) declaresText(argument source.Span) bool {
	return anyLiteral.MatchString(n.text.Slice(argument)) || strings.Contains(n.text.Slice(argument), `"""`)
}

// confName returns the name of settings without the extension.
func confName(file string) string { return strings.TrimSuffix(path.Base(file), ".conf") }

// keysInText matches the keys in settings that stand in a source.
var keysInText = lazyregexp.New(`([\w-]+(?:\.[\w-]+)+)\s*[=:]`)

// loadsOfBuild returns what a build file says of the settings that are loaded.
func loadsOfBuild(text []byte) []string {
	for _, line := range confOption.FindAll(text, maxMembers) {
		if !ofTests.Match(line) {
			return []string{anyConf}
		}
	}
	return nil
}

// loadsOfProcesses returns what the processes say of the settings that are loaded.
func (b *build) loadsOfProcesses() []string {
	if v, ok := b.processes.Flag("Dconfig.resource"); ok && v.Text != "" {
		return []string{confName(v.Text)}
	}
	for _, flag := range []string{"Dconfig.resource", "Dconfig.file", "Dconfig.url"} {
		if _, ok := b.processes.Flag(flag); ok {
			return []string{anyConf}
		}
	}
	return nil
}

// include is a file that settings in HOCON include, and what they set before.
type include struct {
	name   string // "" for one that is not known
	before []string
}

// maxIncludes is how deep files are followed that include others.
const maxIncludes = 4

// conf returns the settings in the files of a name in HOCON, with those that they include. ok is false if there is no
// such file.
func (b *build) conf(name string, depth int) (of settings, ok bool) {
	for _, f := range b.confs {
		if confName(f.name) == name && depth < maxIncludes {
			of.mergeDefaults(b.withIncluded(f, depth))
			ok = true
		}
	}
	return of, ok
}

// withIncluded returns the settings of a file with those that it includes. What an included file may say of a key that
// is set before is not known.
func (b *build) withIncluded(f fileSettings, depth int) settings {
	all := f.always.clone()
	for _, i := range f.includes {
		of, ok := b.conf(i.name, depth+1)
		for _, key := range i.before {
			_, isSet := of.values[key]
			if isSet || !ok {
				all.values[key] = setting{}
			}
		}
		all.mergeDefaults(of)
	}
	return all
}

// isConf reports whether a setting stands in a file in HOCON.
func (s setting) isConf() bool { return path.Ext(s.Path) == ".conf" }

// replaceConf replaces application.conf by what the processes name, for frameworks too.
func (b *build) replaceConf() {
	loads := b.loadsOfProcesses()
	if len(loads) == 0 {
		return
	}
	of, ok := b.conf(loads[0], 0)
	for key, s := range b.settings.values {
		if s.isConf() {
			delete(b.settings.values, key)
			if !ok {
				b.profileSettings.merge(settings{values: map[string]setting{key: s}})
			}
		}
	}
	b.settings.mergeDefaults(of)
	b.settings.unread = b.settings.unread || !ok
}

// loadedSettings returns what the settings are that sources ask for, as far as they stand in HOCON: those of the files
// that are loaded. If several say something else of a key, or one is not known, nothing is known of it.
func (b *build) loadedSettings(loads []string) map[string]setting {
	all := map[string]setting{}
	standard := map[string]setting{}
	for key, s := range b.settings.values {
		if s.isConf() {
			standard[key] = s
			all[key] = setting{}
		}
	}
	found := map[string][]setting{}
	isKnown := true
	for _, name := range loads {
		of := settings{values: standard}
		if name != standardConf {
			var ok bool
			if of, ok = b.conf(name, 0); !ok {
				isKnown = isKnown && name != anyConf
			}
		}
		for key, s := range of.values {
			found[key] = append(found[key], s)
		}
	}
	for key, values := range found {
		isOther := func(s setting) bool { return s.text != values[0].text || s.variable != values[0].variable }
		if all[key] = values[0]; !isKnown || slices.ContainsFunc(values, isOther) {
			all[key] = setting{}
		}
	}
	return all
}

// loadsOf returns the names of the settings in HOCON that a project loads, or one that it is built with, or that is
// built with it; none if that is application.conf alone.
func (m *modules) loadsOf(p *project) []string {
	var all []string
	for _, of := range append(m.around(p), p) {
		all = append(all, m.builds[of].loads...)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 1 && all[0] == standardConf {
		return nil
	}
	return all
}

// around returns the projects that a project is built with, and those that are built with it.
func (m *modules) around(p *project) []*project {
	if m.neighbours == nil {
		m.neighbours = map[*project][]*project{}
		for _, q := range m.projects {
			for _, of := range m.needed(q) {
				m.neighbours[q] = append(m.neighbours[q], of)
				if len(m.neighbours[of]) < 2*maxNeeded {
					m.neighbours[of] = append(m.neighbours[of], q)
				}
			}
		}
	}
	return slices.Clip(m.neighbours[p])
}

// addConf adds to the settings of a project that sources ask for what stands in HOCON, and that the program sets.
func (m *modules) addConf(p *project, values map[string]setting) {
	b := m.builds[p]
	reference, _ := b.conf("reference", 0)
	for key, s := range reference.values {
		if _, isSet := values[key]; !isSet {
			values[key] = s
		}
	}
	if loads := m.loadsOf(p); len(loads) > 0 {
		maps.Copy(values, b.loadedSettings(loads))
	}
	for _, of := range append(m.around(p), p) {
		for key := range m.builds[of].codeSettings.values {
			values[key] = setting{}
		}
	}
	m.leaveProperties(p, values)
}

var (
	// configPart takes the key of a part of the settings, and configOf the object that it is taken from.
	configPart = lazyregexp.New(`\.\s*getConfig\s*\(\s*(?P<key>"[ ]+")?`)
	configOf   = lazyregexp.New(`^\W*(?:\w+\s*\.\s*)*?(?P<object>\w+)(?:\(\))?\s*\.\s*(?:get|load)`)
)

// keyAt returns a key with those of the parts of the settings that it is read from, by where the reading begins and
// ends: config.getConfig("shop").getInt("port").
func (n *names) keyAt(key string, read source.Span) string {
	prefix, ok := n.partOf(read, 0)
	switch {
	case !ok:
		return "?." + key
	case prefix == "":
		return key
	}
	return prefix + "." + key
}

// partOf returns the key of the part of the settings that code reads from, "" for all of them. ok is false if it is not
// known.
func (n *names) partOf(code source.Span, depth int) (prefix string, ok bool) {
	var parts []string
	for _, m := range configPart.FindAllSubmatchIndex(n.text.Code[code.From:code.To], maxMembers) {
		if m[2] < 0 {
			return "", false
		}
		parts = append(parts, strings.Trim(string(n.text.Raw[code.From+m[2]:code.From+m[3]]), `"`))
	}
	m := configOf.FindSubmatch(n.text.Code[code.From:code.To])
	if m == nil || depth == maxIncludes || depth == 0 && n.values().IsParameter(string(m[1]), code.From) {
		return strings.Join(parts, "."), true
	}
	values := n.values().Values(string(m[1]), code.From)
	if len(values) == 1 && values[0] != code && configPart.Match(n.text.Code[values[0].From:values[0].To]) {
		outer, ok := n.partOf(values[0], depth+1)
		if !ok {
			return "", false
		}
		if outer != "" {
			parts = append([]string{outer}, parts...)
		}
	}
	return strings.Join(parts, "."), true
}

// textSettings returns the keys in the settings that stand in the source: ConfigFactory.parseString("a.port = 1").
func (n *names) textSettings(s *settings) {
	for _, m := range n.text.FindAll(loadCall, maxMembers) {
		method, _ := n.text.Group(loadCall, m, "method")
		if method != "parseString" && method != "string" {
			continue
		}
		each, _ := n.text.Arguments(m[1])
		raw := n.text.Raw[each[0].From:each[0].To]
		for _, key := range keysInText.FindAllSubmatch(raw, maxMembers) {
			s.set(string(key[1]), "unknown", plan.Place{})
		}
	}
}
