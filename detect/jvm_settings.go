package detect

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/appyaml"
)

// jvmSettings are an app's own settings, by keys without capitals, hyphens and underlines: Spring takes each spelling.
type jvmSettings map[string]string

var jvmSpelling = strings.NewReplacer("-", "", "_", "", `"`, "", "'", "")

var (
	jvmPlace    = regexp.MustCompile(`^\$\{[^:{}]*:([^{}]*)\}$`)
	jvmOwnKeys  = regexp.MustCompile(`^(?:%prod\.)?((?:spring\.|quarkus\.|micronaut\.)?(?:grpc|dubbo|server|http)\b.*|spring\.(?:config|cloud|profiles)\b.*)$`)
	jvmDocument = regexp.MustCompile(`(?m)^[#!]?---[^\n]*$`)
	jvmProperty = regexp.MustCompile(`^\s*([\w.%"\[\]-]+)\s*[=:]\s*(.*?)\s*$`)
	// jvmForProfile is what puts a document under a condition, since Spring Boot 2.4 and before; a list's elements, too.
	jvmForProfile = regexp.MustCompile(`^spring\.(?:config\.activate\.on(?:profile|cloudplatform)|profiles)(?:\[|$)`)
)

// jvmUnread is among the settings where some could not be read.
const jvmUnread = "?"

// put keeps a key that a framework reads. A value may stand in for a variable that is not set: ${GRPC_PORT:9090}.
func (s jvmSettings) put(key, value string) {
	m := jvmOwnKeys.FindStringSubmatch(strings.ToLower(jvmSpelling.Replace(key)))
	if m == nil || value == "" {
		return
	}
	if in := jvmPlace.FindStringSubmatch(value); in != nil {
		value = in[1]
	}
	s[m[1]] = value
}

// take adds what a document of a settings file says. Those for a profile alone are not known to be in force: they go to
// profiles.
func (s jvmSettings) take(document, profiles jvmSettings) {
	into := s
	for key := range document {
		if jvmForProfile.MatchString(key) {
			into = profiles
		}
	}
	maps.Copy(into, document)
}

// jvmProperties reads a .properties file, without the lines that go on in the next.
func jvmProperties(text []byte) jvmSays {
	says := jvmSays{settings: jvmSettings{}, profiles: jvmSettings{}}
	for _, document := range jvmDocument.Split(string(trimBOM(text)), -1) {
		said := jvmSettings{}
		for line := range strings.Lines(document) {
			if m := jvmProperty.FindStringSubmatch(line); m != nil {
				said.put(m[1], m[2])
			}
		}
		says.settings.take(said, says.profiles)
	}
	return says
}

// jvmYAML reads a YAML file. What it says comes with the error where a part of it is left out.
func jvmYAML(text []byte) (jvmSays, error) {
	says := jvmSays{settings: jvmSettings{}, profiles: jvmSettings{}}
	documents, err := appyaml.Read(text)
	if err != nil {
		says.settings[jvmUnread] = err.Error()
	}
	for _, document := range documents {
		said := jvmSettings{}
		for _, setting := range document {
			said.put(setting.Key, setting.Value)
		}
		says.settings.take(said, says.profiles)
	}
	return says, err
}

var (
	jvmXML      = grammar{between("<!--", "-->", false)}
	jvmDubboTri = regexp.MustCompile(`<dubbo:protocol\b[^>]*\bname="tri"[^>]*`)
	jvmDubboOn  = regexp.MustCompile(`\bport="([^"]*)"`)
	jvmExported = regexp.MustCompile(`(?P<at><dubbo:service\b)`)
)

// jvmDubboXML reads a file of Spring beans for Dubbo's.
func jvmDubboXML(text []byte) *sheet {
	if !bytes.Contains(text, []byte("<dubbo:")) {
		return nil
	}
	s := jvmXML.read(text)
	said := &sheet{signs: s.find([]clue{{code: jvmExported, sign: sign{kind: jvmDubbo, framework: "Dubbo"}}}, nil)}
	settings := jvmSettings{}
	if tri := jvmDubboTri.Find(s.code); tri != nil {
		settings["dubbo.protocol.name"] = "tri"
		if on := jvmDubboOn.FindSubmatch(tri); on != nil {
			settings.put("dubbo.protocol.port", string(on[1]))
		}
	}
	said.own = jvmSays{settings: settings}
	return said
}

// jvmProfile is a settings file of one profile.
var jvmProfile = regexp.MustCompile(`^application-[\w-]+\.(properties|ya?ml)$`)

func jvmSettingsFile(p string) bool {
	name := path.Base(p)
	return slices.Contains(jvmSettingsNames, name) || jvmProfile.MatchString(name)
}
