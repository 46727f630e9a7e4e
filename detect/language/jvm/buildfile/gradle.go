package buildfile

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

var (
	// gradleLine is a line of a script. The group "test" matches the configuration of a dependency for tests, of a
	// dependency outside of the app, or of a version without a dependency.
	gradleLine = lazyregexp.New(`(?m)^(?P<test>[ \t]*(?:\w+[ \t]*\{[ \t]*)?(?:"?(?:test|jmh|compileOnly|kapt|ksp|` +
		`annotationProcessor|developmentOnly|constraints|dependency\b)\w*|\w+Test\w*)\b)?[^\n]*$`)
	// exclusion is exclude group: 'io.grpc', module: 'grpc-services'.
	exclusion = lazyregexp.New(`\bexclude\b[^\n]*\bmodule\s*[:=]\s*["'](?P<name>[ ]+)["']`)
	// gradleString is a string, and coordinates match an artifact in a string: group:artifact:version.
	gradleString = lazyregexp.New(`"[ ]+"|'[ ]+'`)
	coordinates  = lazyregexp.New(`^([\w.-]+:[\w.-]+)(?::([^@:]*))?(?:[:@].*)?$`)
	// namedCoordinates are group: 'io.grpc', name: 'grpc-netty'.
	namedCoordinates = lazyregexp.New(
		`\bgroup\s*[:=]\s*["'](?P<name>[ ]+)["']\s*,\s*name\s*[:=]\s*["'](?P<value>[ ]+)["']`)
	// plugin is id("org.springframework.boot") version "4.0.0".
	plugin = lazyregexp.New(`\b(?:id|plugin)\s*[:=(]?\s*["'](?P<name>[ ]+)["']` +
		`(?:\s*\)?\s*\.?version\s*\(?\s*["'](?P<value>[ ]+)["'])?`)
	// extraProperty is name = '1.0', set('name', '1.0') or extra["name"] = "1.0".
	extraProperty = lazyregexp.New(
		`(?:\b(?P<name>\w+)|(?:\bset\s*\(|\bext(?:ra)?\[)\s*["'](?P<name>[ ]+)["']\]?)\s*[=,]\s*` +
			`["'](?P<value>[ ]+)["']`)
	// neededName is the script in apply from: 'gradle/grpc.gradle', and the project in project(':orders') or
	// projects.orders.
	neededName = lazyregexp.New(`\b(?:from\s*[:=(]?|project\s*\(?\s*(?:path\s*[:=])?)\s*["'](?P<name>[ ]+)["']|` +
		`\bprojects\.(?P<name>[\w.]+)`)
	scriptExt    = lazyregexp.New(`\.gradle(?:\.kts)?$`)
	catalogAlias = lazyregexp.New(`\b\w*[lL]ibs\.(?P<name>[a-z][\w.]*)`)
	allProjects  = lazyregexp.New(`\b(?:allprojects|subprojects)\b`)
)

// readGradle reads a script of Gradle, in Groovy or in Kotlin. A script named build, or named like the directory,
// belongs to a project and needs no name.
func readGradle(file string, t *source.Text) File {
	name, _, _ := strings.Cut(path.Base(file), ".gradle")
	f := File{ForSubprojects: allProjects.Match(t.Code), Root: name == "build" || name == path.Base(path.Dir(file))}
	if !f.Root {
		f.Name = name
	}
	for _, m := range t.FindAll(gradleLine, -1) {
		if isTest := m[2] >= 0; !isTest {
			f.addLine(&source.Text{Raw: t.Raw[m[0]:m[1]], Code: t.Code[m[0]:m[1]]})
		}
	}
	return f
}

// addLine adds the declarations of a line of a script: each dependency has a line.
func (f *File) addLine(line *source.Text) {
	for _, m := range line.FindAll(exclusion, 1) {
		f.Excluded = append(f.Excluded, line.Names(exclusion)...)
		line = &source.Text{Raw: line.Raw[:m[0]], Code: line.Code[:m[0]]}
	}
	pairs(line, extraProperty, f.SetVersion)
	pairs(line, plugin, func(id, version string) {
		f.SetVersion(id, version)
		f.Artifacts, f.Needs = append(f.Artifacts, id), append(f.Needs, id)
	})
	for _, m := range line.FindAll(gradleString, -1) {
		if a := coordinates.FindSubmatch(line.Raw[m[0]+1 : m[1]-1]); a != nil {
			f.SetVersion(string(a[1]), string(a[2]))
			f.Artifacts = append(f.Artifacts, string(a[1]))
		}
	}
	pairs(line, namedCoordinates, func(group, name string) { f.Artifacts = append(f.Artifacts, group+":"+name) })
	for _, name := range line.Names(neededName) {
		name = scriptExt.ReplaceAllString(name, "")
		f.Needs = append(f.Needs, name[strings.LastIndexAny(name, ":./")+1:])
	}
	f.Aliases = append(f.Aliases, line.Names(catalogAlias)...)
}

// pairs calls use with the groups "name" and "value" of each match.
func pairs(t *source.Text, pattern *lazyregexp.Regexp, use func(name, value string)) {
	for _, m := range t.FindAll(pattern, -1) {
		name, _ := t.Group(pattern, m, "name")
		value, _ := t.Group(pattern, m, "value")
		use(name, value)
	}
}

// readProperties reads gradle.properties, with properties of all projects of a build.
func readProperties(text []byte) File {
	var f File
	for _, property := range untrusted.ReadLines(source.TrimBOM(text)) {
		f.SetVersion(property.Key, property.Value)
	}
	return f
}

// readCatalog reads a version catalog of Gradle (docs.gradle.org, "Version Catalogs").
func readCatalog(text []byte) (File, error) {
	var catalog struct {
		Versions, Libraries, Plugins map[string]any
		Bundles                      map[string][]string
	}
	if _, err := untrusted.DecodeTOML(text, &catalog); err != nil {
		return File{}, fmt.Errorf("leaving out a version catalogue: %w", err)
	}
	f := File{Catalog: map[string][]string{}}
	for name, version := range catalog.Versions {
		f.SetVersion(name, versionIn(version))
	}
	for alias, library := range catalog.Libraries {
		f.addEntry(accessor(alias), library, 2)
	}
	for alias, plugin := range catalog.Plugins {
		f.addEntry("plugins."+accessor(alias), plugin, 1)
	}
	for alias, libraries := range catalog.Bundles {
		alias = "bundles." + accessor(alias)
		for _, library := range libraries {
			f.Catalog[alias] = append(f.Catalog[alias], f.Catalog[accessor(library)]...)
		}
	}
	return f, nil
}

// addEntry adds an entry of a catalog: a table, or a text, "group:name:version" or "id:version". parts is how many
// parts of a text are the artifact.
func (f *File) addEntry(alias string, entry any, parts int) {
	artifact, version := "", ""
	switch of := entry.(type) {
	case string:
		all := append(strings.SplitN(of, ":", parts+1), "", "")
		artifact, version = strings.TrimSuffix(strings.Join(all[:parts], ":"), ":"), all[parts]
	case map[string]any:
		text := func(key string) string { s, _ := of[key].(string); return s }
		artifact = cmp.Or(text("id"), text("module"), text("group")+":"+text("name"))
		version = versionIn(of["version"])
	}
	f.Catalog[alias] = []string{artifact}
	f.SetVersion(artifact, version)
}

// versionIn returns the version in a text or a table, "" for a reference to a version of the catalog.
func versionIn(value any) string {
	if of, ok := value.(map[string]any); ok {
		value = cmp.Or(of["strictly"], of["require"], of["prefer"])
	}
	text, _ := value.(string)
	return text
}

// accessor returns the form of an alias in scripts: grpc.netty for grpc-netty.
func accessor(alias string) string { return strings.NewReplacer("-", ".", "_", ".").Replace(alias) }
