package jvm

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
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
	// variable is the environment variable that replaces it, "" for none or several.
	variable string
	// isForProduction says that it goes before one with the same key that holds otherwise.
	isForProduction bool
}

// text returns the value of a key, "" if it is not set.
func (s *settings) text(key string) string { return s.values[key].text }

// have reports whether a key has a value, which are given as key=value.
func (s *settings) have(pair string) bool {
	key, value, _ := strings.Cut(pair, "=")
	return strings.EqualFold(s.text(key), value)
}

// all yields the settings by their keys, in the order of these.
func (s *settings) all() iter.Seq2[string, setting] {
	return func(yield func(string, setting) bool) {
		for _, key := range slices.Sorted(maps.Keys(s.values)) {
			if !yield(key, s.values[key]) {
				return
			}
		}
	}
}

// decider names what decides the value when the app runs, "" if it is written.
func (s setting) decider() string {
	if s.variable != "" {
		return "$" + s.variable
	}
	if m := otherKey.FindStringSubmatch(s.text); m != nil {
		return "the setting " + m[1]
	}
	return ""
}

// otherKey is a value that is the value of another key: ${server.port}.
var otherKey = lazyregexp.New(`^\$\{([\w.-]+)\}$`)

// value returns the address that a setting is, or the name of the key whose value it has.
func (s setting) value() address.Value {
	v := address.Setting(s.text, s.Line)
	v.Place = s.Place
	if v.Variable = s.variable; s.variable != "" && v.Certainty == address.Written {
		v.Certainty = address.Default
	}
	if m := otherKey.FindStringSubmatch(s.text); m != nil && s.variable == "" {
		v.Names = []address.Name{settingName(m[1])}
	}
	return v
}

// fileSettings are the settings in one file.
type fileSettings struct {
	name      string // of the file
	isOutput  bool   // a build tool copied the file
	isNeeded  bool   // the file is in a project that another one is built with
	always    settings
	inProfile []conditional
	includes  []include // of a file in HOCON
}

func (s fileSettings) result() *analyzer.Result[extra] {
	return &analyzer.Result[extra]{Extra: extra{settings: []fileSettings{s}}}
}

// isIn says of the settings that they are in a jar, which has no lines.
func (s fileSettings) isIn(jar string) {
	for _, of := range append(s.inProfile, conditional{settings: s.always}) {
		for key, value := range of.values {
			value.Place = plan.Place{Path: jar}
			of.values[key] = value
		}
	}
}

var spelling = strings.NewReplacer("-", "", "_", "", `"`, "", "'", "")

// normalize returns a key without capitals, hyphens, underscores and quotes: Spring takes every spelling.
func normalize(key string) string { return strings.ToLower(spelling.Replace(key)) }

var (
	// relevantKey is a key that decides about a server or its port. Quarkus puts %prod. before what holds in
	// production.
	relevantKey = lazyregexp.New(`^(%prod\.)?(` +
		`(?:spring\.|quarkus\.|micronaut\.|play\.)?(?:grpc|dubbo|server|http)\b.*|` +
		`spring\.(?:config|cloud|profiles)\b.*|quarkus\.(?:config|consulconfig|springcloudconfig)\b.*|` +
		`(?:micronaut\.configclient|apollo|nacos\.config)\b.*|armeria\.(?:ports|ssl)\b.*|` +
		`(?:[^%].*)?port)$`)
	// reference is a reference to an environment variable or another setting, with a default: ${GRPC_PORT:9090}. The
	// default may be a reference too.
	reference = lazyregexp.New(`^\$\{([^:{}]*):(.*)\}$`)
	// environmentName is a key that is the name of an environment variable.
	environmentName = source.Exactly(`[A-Z][A-Z0-9_]*`)
)

// maxReferences is how many references are followed from one value to the next.
const maxReferences = 4

// set keeps a setting if its key is relevant. The value of a reference is its default.
func (s *settings) set(key, value string, at plan.Place) {
	m := relevantKey.FindStringSubmatch(normalize(key))
	if m == nil || value == "" {
		return
	}
	value, variable := resolveReferences(value)
	if s.values == nil {
		s.values = map[string]setting{}
	}
	if isForProduction := m[1] != ""; isForProduction || !s.values[m[2]].isForProduction {
		s.values[m[2]] = setting{value, at, variable, isForProduction}
	}
}

// resolveReferences returns the default of a reference, and the environment variable that replaces it: "" if there is
// none, or several.
func resolveReferences(value string) (text, variable string) {
	names := 0
	add := func(key string) {
		if environmentName.MatchString(key) {
			names++
			variable = key
		}
	}
	for range maxReferences {
		if m := reference.FindStringSubmatch(value); m != nil {
			add(m[1])
			value = m[2]
		}
	}
	if m := otherKey.FindStringSubmatch(value); m != nil {
		add(m[1])
	}
	if names > 1 {
		variable = ""
	}
	return value, variable
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
	own := *s
	*s = other.clone()
	s.merge(own)
}

func (s *settings) clone() settings { return settings{maps.Clone(s.values), s.unread} }
