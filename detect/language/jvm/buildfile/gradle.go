package buildfile

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// gradleLine is a line of a script. The group "test" takes what makes the line a dependency of tests only, or of
	// what does not go into the app.
	gradleLine = lazyregexp.New(
		`(?m)^(?P<test>[ \t]*(?:"?(?:test|androidTest|integrationTest|jmh|compileOnly|annotationProcessor|kapt|ksp|` +
			`developmentOnly|testAndDevelopmentOnly)\w*|\w+Test\w*)\b)?[^\n]*$`)
	// gradleString is a string, and coordinates are those of an artifact in it: group:artifact:version.
	gradleString = lazyregexp.New(`"(?P<name>[ ]+)"|'(?P<name2>[ ]+)'`)
	coordinates  = lazyregexp.New(`^([\w.-]+:[\w.-]+)(?::([^@:]*))?(?:[:@].*)?$`)
	// namedCoordinates are group: 'io.grpc', name: 'grpc-netty'.
	namedCoordinates = lazyregexp.New(
		`\bgroup\s*[:=]\s*["'](?P<group>[ ]+)["']\s*,\s*name\s*[:=]\s*["'](?P<name>[ ]+)["']`)
	// pluginVersion is id("org.springframework.boot") version "4.0.0".
	pluginVersion = lazyregexp.New(
		`\bid\s*[(]?\s*["'](?P<name>[ ]+)["']\s*\)?\s*\.?version\s*\(?\s*["'](?P<value>[ ]+)["']`)
	// properties are name = '1.0', set('name', '1.0') and extra["name"] = "1.0".
	properties = []*lazyregexp.Regexp{
		lazyregexp.New(`\b(?P<name>\w+)\s*=\s*["'](?P<value>[ ]+)["']`),
		lazyregexp.New(`\bset\s*\(\s*["'](?P<name>[ ]+)["']\s*,\s*["'](?P<value>[ ]+)["']`),
		lazyregexp.New(`\b(?:ext|extra)\[\s*["'](?P<name>[ ]+)["']\s*\]\s*=\s*["'](?P<value>[ ]+)["']`),
	}
	// exclusion is exclude group: 'io.grpc', module: 'grpc-services', and excludedModule its last part.
	exclusion      = lazyregexp.New(`\bexclude\b[^\n]*`)
	excludedModule = lazyregexp.New(`\bmodule\s*[:=]\s*["'](?P<name>[ ]+)["']`)
	// versionsOnly begins a block that states versions and adds no dependency, and allConfigurations one about all.
	versionsOnly = lazyregexp.New(
		`\b(?:constraints|dependencyManagement|pluginManagement|resolutionStrategy)\s*\{`)
	allConfigurations = lazyregexp.New(`\bconfigurations\b[^\n]*\{`)
	pluginID          = lazyregexp.New(`\b(?:id|plugin)\s*[:=(]?\s*["'](?P<name>[ ]+)["']`)
	// appliedScript is the script in apply from: 'gradle/grpc.gradle'.
	appliedScript = lazyregexp.New(`\bfrom\s*[:=(]?\s*["'](?P<name>[ ]+)["']`)
	// projectCall is project(':orders'), and projectAccessor is projects.orders.
	projectCall     = lazyregexp.New(`\bproject\s*\(?\s*(?:path\s*[:=]\s*)?["'](?P<name>[ ]+)["']`)
	projectAccessor = lazyregexp.New(`\bprojects\.(?P<name>[\w.]+)`)
	catalogAlias    = lazyregexp.New(`\b\w*[lL]ibs\.(?P<name>[a-z][\w.]*)`)
	allProjects     = lazyregexp.New(`\b(?:allprojects|subprojects)\b`)
)

// ReadGradle reads a script of Gradle, in Groovy or in Kotlin.
func ReadGradle(file string, t *source.Text) File {
	f := File{ForSubprojects: allProjects.Match(t.Code)}
	script := gradleScript{&f, t, blocks(t, versionsOnly), blocks(t, allConfigurations), ""}
	for _, m := range t.FindAll(gradleLine, -1) {
		if isTest := m[2] >= 0; !isTest {
			script.addLine(source.Span{From: m[0], To: m[1]})
		}
	}
	name, _, _ := strings.Cut(path.Base(file), ".gradle")
	// The script of a project is called build, or as its directory; then it needs no name of its own.
	f.Root = name == "build" || name == path.Base(path.Dir(file))
	if !f.Root {
		f.Name = name
	}
	return f
}

// maxBlocks is how many blocks of one kind are looked for: real scripts have one or two.
const maxBlocks = 8

// blocks returns the spans of the blocks that a pattern opens.
func blocks(t *source.Text, opens *lazyregexp.Regexp) []source.Span {
	var spans []source.Span
	for _, m := range t.FindAll(opens, maxBlocks) {
		_, all := t.Arguments(m[1])
		spans = append(spans, all)
	}
	return spans
}

// gradleScript is a script that is being read.
type gradleScript struct {
	*File
	text         *source.Text
	versionsOnly []source.Span
	everywhere   []source.Span
	dependency   string // the last dependency, which what is excluded is left out of
}

// addLine adds what one line declares: each dependency stands on a line of its own.
func (s *gradleScript) addLine(at source.Span) {
	line := &source.Text{Raw: s.text.Raw[at.From:at.To], Code: s.text.Code[at.From:at.To]}
	var excluded []string
	everywhere := false
	for _, m := range line.FindAll(exclusion, 1) {
		excluded, everywhere = line.Names(excludedModule), isIn(s.everywhere, at.From+m[0])
		line = &source.Text{Raw: line.Raw[:m[0]], Code: line.Code[:m[0]]}
	}
	s.addVersions(line)
	for _, m := range line.FindAll(gradleString, -1) {
		if a := coordinates.FindSubmatch(line.Raw[m[0]+1 : m[1]-1]); a != nil {
			s.SetVersion(string(a[1]), string(a[2]))
			if s.dependency = string(a[1]); !isIn(s.versionsOnly, at.From+m[0]) {
				s.Artifacts = append(s.Artifacts, s.dependency)
			}
		}
	}
	if named := line.FindAll(namedCoordinates, -1); len(named) > 0 && !isIn(s.versionsOnly, at.From+named[0][0]) {
		s.addNamed(line, namedCoordinates, named)
	}
	s.addReferences(line)
	dependency := s.dependency
	if everywhere {
		dependency = ""
	}
	for _, module := range excluded {
		s.exclude(dependency, ":"+module)
	}
}

// isIn reports whether an offset lies in one of the blocks.
func isIn(blocks []source.Span, at int) bool {
	return slices.ContainsFunc(blocks, func(block source.Span) bool { return block.Contains(at) })
}

// addVersions adds the versions of plugins and the properties that a line declares.
func (f *File) addVersions(line *source.Text) {
	for _, m := range line.FindAll(pluginVersion, -1) {
		name, _ := line.Group(pluginVersion, m, "name")
		value, _ := line.Group(pluginVersion, m, "value")
		f.SetVersion(name, value)
	}
	for _, p := range properties {
		for _, m := range line.FindAll(p, -1) {
			name, _ := line.Group(p, m, "name")
			value, _ := line.Group(p, m, "value")
			f.setProperty(name, value)
		}
	}
}

// addReferences adds the plugins, scripts, projects and aliases that a line names.
func (f *File) addReferences(line *source.Text) {
	plugins := line.Names(pluginID)
	f.Artifacts, f.Needs = append(f.Artifacts, plugins...), append(f.Needs, plugins...)
	for _, name := range line.Names(appliedScript) {
		f.Needs = append(f.Needs, strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".kts"), ".gradle"))
	}
	for _, name := range append(line.Names(projectCall), line.Names(projectAccessor)...) {
		f.Needs = append(f.Needs, name[strings.LastIndexAny(name, ":.")+1:])
	}
	f.Aliases = append(f.Aliases, line.Names(catalogAlias)...)
}

// addNamed adds the artifacts that the groups "group" and "name" of a pattern took.
func (f *File) addNamed(t *source.Text, pattern *lazyregexp.Regexp, matches [][]int) {
	for _, m := range matches {
		group, _ := t.Group(pattern, m, "group")
		name, _ := t.Group(pattern, m, "name")
		f.Artifacts = append(f.Artifacts, group+":"+name)
	}
}
