package detect

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/apptoml"
)

// jvmPOM reads Maven's build file.
func jvmPOM(text []byte) (*sheet, error) {
	type part struct {
		Group    string `xml:"groupId"`
		Artifact string `xml:"artifactId"`
		Scope    string `xml:"scope"`
	}
	var pom struct {
		Artifact     string `xml:"artifactId"`
		Packaging    string `xml:"packaging"`
		Dependencies []part `xml:"dependencies>dependency"`
		Plugins      []part `xml:"build>plugins>plugin"`
	}
	reader := xml.NewDecoder(bytes.NewReader(trimBOM(text)))
	reader.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	if err := reader.Decode(&pom); err != nil {
		return &sheet{root: true, own: jvmSays{}}, fmt.Errorf("reading a pom.xml: %w", err)
	}
	says := jvmSays{name: strings.TrimSpace(pom.Artifact), handsDown: strings.TrimSpace(pom.Packaging) == "pom"}
	for _, p := range append(pom.Dependencies, pom.Plugins...) {
		if name := strings.TrimSpace(p.Artifact); strings.TrimSpace(p.Scope) != "test" {
			says.artifacts = append(says.artifacts, strings.TrimSpace(p.Group)+":"+name)
			says.needs = append(says.needs, name)
		}
	}
	return &sheet{root: true, own: says}, nil
}

var (
	// Group "test" is what puts a dependency among those of tests only.
	jvmGradleText   = regexp.MustCompile(`(?m)^(?P<test>[ \t]*(?:"?(?:test|androidTest|integrationTest|jmh)\w*|\w+Test\w*)\b)?[^\n]*$`)
	jvmGradleString = regexp.MustCompile(`"(?P<name>[ ]+)"|'(?P<name2>[ ]+)'`)
	jvmArtifact     = regexp.MustCompile(`^([\w.-]+:[\w.-]+)(?:[:@].*)?$`)
	jvmInParts      = regexp.MustCompile(`\bgroup\s*[:=]\s*["'](?P<group>[ ]+)["']\s*,\s*name\s*[:=]\s*["'](?P<name>[ ]+)["']`)
	jvmPluginID     = regexp.MustCompile(`\b(?:id|plugin)\s*[:=(]?\s*["'](?P<name>[ ]+)["']`)
	jvmApplied      = regexp.MustCompile(`\bfrom\s*[:=(]?\s*["'](?P<name>[ ]+)["']`)
	jvmSibling      = regexp.MustCompile(`\bproject\s*\(?\s*(?:path\s*[:=]\s*)?["'](?P<name>[ ]+)["']`)
	jvmAccessor     = regexp.MustCompile(`\bprojects\.(?P<name>[\w.]+)`)
	jvmAlias        = regexp.MustCompile(`\b\w*[lL]ibs\.(?P<name>[a-z][\w.]*)`)
	jvmAllModules   = regexp.MustCompile(`\b(?:allprojects|subprojects)\b`)
	jvmSbtPart      = regexp.MustCompile(`"(?P<group>[ ]+)"\s*%{1,3}\s*"(?P<name>[ ]+)"[^\n]*`)
	jvmSbtTest      = regexp.MustCompile(`%\s*(?:Test|IntegrationTest|"[^"]*\btest")`)
)

// jvmScript reads a build file of Gradle or sbt, and sources of sbt's own build.
func jvmScript(p string, text []byte) *sheet {
	s := jvmGrammars[path.Ext(p)].read(text)
	if ext := path.Ext(p); ext == ".sbt" || ext == ".scala" {
		return &sheet{root: path.Base(p) == "build.sbt", own: jvmSbt(s)}
	}
	name, _, _ := strings.Cut(path.Base(p), ".gradle")
	says := jvmGradle(s)
	// A project's build file may have the name of its folder, and has no need of its own name then.
	root := name == "build" || name == path.Base(path.Dir(p))
	if !root {
		says.name = name // as a plug-in, or as what others apply
	}
	return &sheet{root: root, own: says}
}

func jvmSbt(s *source) jvmSays {
	says := jvmSays{handsDown: true}
	for _, m := range jvmSbtPart.FindAllSubmatchIndex(s.code, -1) {
		if jvmSbtTest.Match(s.text[m[0]:m[1]]) {
			continue
		}
		group, _ := s.group(jvmSbtPart, m, "group")
		name, _ := s.group(jvmSbtPart, m, "name")
		says.artifacts = append(says.artifacts, group+":"+name)
	}
	return says
}

func jvmGradle(s *source) jvmSays {
	says := jvmSays{handsDown: jvmAllModules.Match(s.code)}
	for _, m := range jvmGradleText.FindAllSubmatchIndex(s.code, -1) {
		if m[2] < 0 {
			line := &source{text: s.text[m[0]:m[1]], code: s.code[m[0]:m[1]]}
			says.gradleLine(line)
		}
	}
	return says
}

// gradleLine adds what one line of a build file says: dependencies are a line each.
func (says *jvmSays) gradleLine(s *source) {
	for _, m := range jvmGradleString.FindAllIndex(s.code, -1) {
		if a := jvmArtifact.FindSubmatch(s.text[m[0]+1 : m[1]-1]); a != nil {
			says.artifacts = append(says.artifacts, string(a[1]))
		}
	}
	for _, m := range jvmInParts.FindAllSubmatchIndex(s.code, -1) {
		group, _ := s.group(jvmInParts, m, "group")
		name, _ := s.group(jvmInParts, m, "name")
		says.artifacts = append(says.artifacts, group+":"+name)
	}
	plugins := s.imports(jvmPluginID)
	says.artifacts, says.needs = append(says.artifacts, plugins...), append(says.needs, plugins...)
	for _, name := range s.imports(jvmApplied) {
		says.needs = append(says.needs, strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".kts"), ".gradle"))
	}
	for _, name := range append(s.imports(jvmSibling), s.imports(jvmAccessor)...) {
		says.needs = append(says.needs, name[strings.LastIndexAny(name, ":.")+1:])
	}
	says.aliases = append(says.aliases, s.imports(jvmAlias)...)
}

// jvmCatalogue reads Gradle's version catalogue (docs.gradle.org, "Version Catalogs").
func jvmCatalogue(text []byte) (*sheet, error) {
	var file struct {
		Libraries map[string]any
		Plugins   map[string]any
		Bundles   map[string][]string
	}
	if err := apptoml.Decode(text, &file); err != nil {
		return nil, fmt.Errorf("leaving out a version catalogue: %w", err)
	}
	stands := map[string][]string{}
	for alias, value := range file.Libraries {
		stands[jvmAccess(alias)] = []string{jvmModule(value)}
	}
	for alias, value := range file.Plugins {
		stands["plugins."+jvmAccess(alias)] = []string{jvmModule(value)}
	}
	for alias, parts := range file.Bundles {
		for _, part := range parts {
			alias := "bundles." + jvmAccess(alias)
			stands[alias] = append(stands[alias], jvmModule(file.Libraries[part]))
		}
	}
	return &sheet{own: jvmSays{catalogue: stands}}, nil
}

// jvmAccess returns a catalogue's alias as build files write it.
func jvmAccess(alias string) string { return strings.NewReplacer("-", ".", "_", ".").Replace(alias) }

// jvmModule returns what a catalogue's entry stands for: "group:name:version", or a table.
func jvmModule(entry any) string {
	if text, ok := entry.(string); ok {
		parts := strings.SplitN(text, ":", 3)
		return strings.Join(parts[:min(2, len(parts))], ":")
	}
	table, _ := entry.(map[string]any)
	text := func(key string) string {
		s, _ := table[key].(string)
		return s
	}
	switch {
	case text("id") != "":
		return text("id")
	case text("module") != "":
		return text("module")
	}
	return text("group") + ":" + text("name")
}
