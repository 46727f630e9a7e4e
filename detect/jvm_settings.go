package detect

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// jvmSettings are an app's own settings, by keys without capitals, hyphens and underlines: Spring takes each spelling.
type jvmSettings map[string]string

var jvmSpelling = strings.NewReplacer("-", "", "_", "", `"`, "", "'", "")

var (
	jvmPlace    = regexp.MustCompile(`^\$\{[^:{}]*:([^{}]*)\}$`)
	jvmOwnKeys  = regexp.MustCompile(`^(?:%prod\.)?((?:spring\.|quarkus\.|micronaut\.)?(?:grpc|dubbo|server|http)\b.*|spring\.(?:config|cloud)\b.*)$`)
	jvmDocument = regexp.MustCompile(`(?m)^[#!]?---[^\n]*$`)
	jvmProperty = regexp.MustCompile(`^\s*([\w.%"\[\]-]+)\s*[=:]\s*(.*?)\s*$`)
	jvmYAMLLine = regexp.MustCompile(`^( *)((?:["'][\w.%/-]+["'])|[\w.%/-]+)\s*:(?:\s+(.*?))?\s*$`)
	jvmComment  = regexp.MustCompile(`(^|\s)#.*$`)
)

// put keeps a key that a framework reads. A value may stand in for a variable that is not set: ${GRPC_PORT:9090}.
func (s jvmSettings) put(key, value string) {
	m := jvmOwnKeys.FindStringSubmatch(strings.ToLower(jvmSpelling.Replace(key)))
	if m == nil || value == "" {
		return
	}
	if in := jvmPlace.FindStringSubmatch(value); in != nil {
		value = in[1]
	}
	s[m[1]] = strings.Trim(value, `"'`)
}

// jvmDocuments reads each document of a settings file. Those for a profile alone are not known to be in force.
func jvmDocuments(text []byte, read func(text []byte, into jvmSettings)) jvmSettings {
	whole := jvmSettings{}
	for _, document := range jvmDocument.Split(string(trimBOM(text)), -1) {
		said := jvmSettings{}
		read([]byte(document), said)
		if said["spring.config.activate.onprofile"] != "" || said["spring.config.activate.oncloudplatform"] != "" {
			continue
		}
		for key, value := range said {
			whole[key] = value
		}
	}
	return whole
}

// jvmProperties reads a .properties file, without the lines that go on in the next.
func jvmProperties(text []byte) jvmSettings {
	return jvmDocuments(text, func(text []byte, into jvmSettings) {
		for line := range bytes.Lines(text) {
			if m := jvmProperty.FindSubmatch(line); m != nil {
				into.put(string(m[1]), string(m[2]))
			}
		}
	})
}

// jvmYAML reads the mappings of a YAML file, one key a line, without what is in lists.
func jvmYAML(text []byte) jvmSettings {
	const deepest = 16
	return jvmDocuments(text, func(text []byte, into jvmSettings) {
		var keys []string
		var indents []int
		for line := range bytes.Lines(text) {
			m := jvmYAMLLine.FindSubmatch(jvmComment.ReplaceAll(bytes.TrimRight(line, "\r\n"), nil))
			if m == nil {
				continue
			}
			for len(indents) > 0 && indents[len(indents)-1] >= len(m[1]) {
				keys, indents = keys[:len(keys)-1], indents[:len(indents)-1]
			}
			if len(keys) == deepest {
				continue
			}
			keys, indents = append(keys, string(m[2])), append(indents, len(m[1]))
			into.put(strings.Join(keys, "."), string(m[3]))
		}
	})
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
