package jvm

import (
	"maps"
	"path"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/hocon"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// settings are values that an app configures its frameworks with.
type settings struct {
	// values are by key, in the spelling that normalize returns.
	values map[string]setting
	// unread says that a part of a file could not be read.
	unread bool
}

// setting is a value and where it is written.
type setting struct {
	text string
	plan.Place
}

// text returns the value of a key, "" where it is not set.
func (s *settings) text(key string) string { return s.values[key].text }

// otherKey is a value that is the value of another key: ${server.port}.
var otherKey = regexp.MustCompile(`^\$\{([\w.-]+)\}$`)

// value returns the address that a setting is, or the name of the key whose value it has.
func (s setting) value() address.Value {
	v := address.Setting(s.text, s.Line)
	v.Place = s.Place
	if m := otherKey.FindStringSubmatch(s.text); m != nil {
		v.Names = []address.Name{settingName(m[1])}
	}
	return v
}

// fileSettings are the settings in one file, or in all files of a jar.
type fileSettings struct {
	always    settings
	inProfile settings // in force in one profile only
}

func (s fileSettings) result() *analyzer.Result[extra] {
	return &analyzer.Result[extra]{Extra: extra{settings: s.always, profileSettings: s.inProfile}}
}

// isIn says of the settings that they are in a jar, which has no lines.
func (s fileSettings) isIn(jar string) {
	for _, values := range []map[string]setting{s.always.values, s.inProfile.values} {
		for key, value := range values {
			values[key] = setting{value.text, plan.Place{Path: jar}}
		}
	}
}

var spelling = strings.NewReplacer("-", "", "_", "", `"`, "", "'", "")

// normalize returns a key without capitals, hyphens, underscores and quotes: Spring takes every spelling.
func normalize(key string) string { return strings.ToLower(spelling.Replace(key)) }

var (
	// relevantKey is a key that decides about a server or its port. Quarkus puts %prod. before what holds in
	// production.
	relevantKey = regexp.MustCompile(`^(?:%prod\.)?(` +
		`(?:spring\.|quarkus\.|micronaut\.)?(?:grpc|dubbo|server|http)\b.*|spring\.(?:config|cloud|profiles)\b.*|` +
		`(?:[^%].*)?port)$`)
	// variable is a reference to an environment variable or another setting, with a default: ${GRPC_PORT:9090}. The
	// default may be a reference too.
	variable = regexp.MustCompile(`^\$\{[^:{}]*:(.*)\}$`)
)

// maxReferences is how many references are followed from one value to the next.
const maxReferences = 4

// set keeps a setting if its key is relevant. The value of a reference is its default.
func (s *settings) set(key, value string, at plan.Place) {
	m := relevantKey.FindStringSubmatch(normalize(key))
	if m == nil || value == "" {
		return
	}
	for range maxReferences {
		if reference := variable.FindStringSubmatch(value); reference != nil {
			value = reference[1]
		}
	}
	if s.values == nil {
		s.values = map[string]setting{}
	}
	s.values[m[1]] = setting{value, at}
}

// merge adds other settings, which have precedence over those that are there.
func (s *settings) merge(other settings) {
	if s.values == nil {
		s.values = map[string]setting{}
	}
	maps.Copy(s.values, other.values)
	s.unread = s.unread || other.unread
}

// mergeDefaults adds those of other settings whose keys are not set.
func (s *settings) mergeDefaults(other settings) {
	if s.values == nil {
		s.values = map[string]setting{}
	}
	for key, value := range other.values {
		if _, ok := s.values[key]; !ok {
			s.values[key] = value
		}
	}
	s.unread = s.unread || other.unread
}

func (s *settings) clone() settings { return settings{maps.Clone(s.values), s.unread} }

// profileCondition is a key that puts the document that it stands in under a condition: the settings are in force in
// some profiles or on some platforms only. The key has one name since Spring Boot 2.4 and had another before. Its value
// may be a list.
var profileCondition = regexp.MustCompile(`^spring\.(?:config\.activate\.on(?:profile|cloudplatform)|profiles)(?:\[|$)`)

// addDocument adds the settings of one document of a file.
func (s *fileSettings) addDocument(document settings) {
	for key := range document.values {
		if profileCondition.MatchString(key) {
			s.inProfile.merge(document)
			return
		}
	}
	s.always.merge(document)
}

var (
	documentSeparator = regexp.MustCompile(`^[#!]?---`)
	property          = regexp.MustCompile(`^\s*([\w.%"\[\]-]+)\s*[=:]\s*(.*?)\s*$`)
)

// parseSettings reads a settings file of any format.
func parseSettings(file string, text []byte) (fileSettings, error) {
	switch path.Ext(file) {
	case ".properties":
		return parseProperties(file, text), nil
	case ".conf":
		return parseHOCON(file, text)
	}
	return parseYAML(file, text)
}

// parseProperties reads a .properties file. It leaves out the further lines of values that have several.
func parseProperties(file string, text []byte) fileSettings {
	var s fileSettings
	var document settings
	n := 0
	for line := range strings.Lines(string(source.TrimBOM(text))) {
		n++
		if documentSeparator.MatchString(line) {
			s.addDocument(document)
			document = settings{}
		} else if m := property.FindStringSubmatch(line); m != nil {
			document.set(m[1], m[2], plan.Place{Path: file, Line: n})
		}
	}
	s.addDocument(document)
	return s
}

// parseYAML reads a YAML file. Where it cannot be read to its end, the settings before come with the error.
func parseYAML(file string, text []byte) (fileSettings, error) {
	documents, err := untrusted.ReadYAML(text)
	s := fileSettings{always: settings{unread: err != nil}}
	for _, d := range documents {
		var document settings
		for _, of := range d {
			document.set(of.Key, of.Value, plan.Place{Path: file, Line: of.Line})
		}
		s.addDocument(document)
	}
	return s, err
}

// parseHOCON reads an application.conf. Where it cannot be read to its end, the settings before come with the error. A
// value that is optional leaves the one before it in force: ${?PORT}.
func parseHOCON(file string, text []byte) (fileSettings, error) {
	found, err := hocon.Read(text)
	s := fileSettings{always: settings{unread: err != nil}}
	for _, of := range found {
		if !strings.HasPrefix(of.Value, "${?") {
			s.always.set(of.Key, of.Value, plan.Place{Path: file, Line: of.Line})
		}
	}
	return s, err
}
