package jvm

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// setting is a value that an app configures its framework with.
type setting struct {
	key, text string // the key as normalize returns it
	plan.Place
	variable  string // the environment variable that replaces the value, "" for none
	byDefault bool   // something replaces the value
}

// unknown is the text of a setting that some profiles have, or that has several values, and the key of one that stands
// for those of a file which cannot be read to its end.
const unknown = "?"

var (
	// settingsFile is a file that a framework reads, and testProfile a profile of tests, which is in force in no image.
	settingsFile = source.Exactly(`(?:(?:application(?:-(?P<profile>[\w-]+))?|bootstrap)\.(?:properties|ya?ml)|` +
		`application\.(?:conf|toml|json)|(?:dubbo|microprofile-config)\.properties)`)
	testProfile = source.Exactly(`(?:[\w-]+-)?(?:(?:unit|integration|int)?-?tests?|it|e2e)`)
	// profileCondition is a key that puts the document that it stands in under a condition. It has one name since
	// Spring Boot 2.4 and had another before.
	profileCondition = lazyregexp.New(`^spring\.(?:config\.activate\.on(?:profile|cloudplatform)|profiles)(?:\[|$)`)
	// outputDir is where build tools write classes, with copies of the settings, which may be old.
	outputDir = lazyregexp.New(`(^|/)(target|build|out|bin)/`)
	// relevantKey is a key that decides about a server. Quarkus puts %prod. before what holds in production.
	relevantKey = lazyregexp.New(`^(?:%prod\.)?((?:spring\.grpc|quarkus\.(?:grpc|http)|grpc|server|dubbo|` +
		`play\.server|armeria)\b.*)$`)
	// reference is an environment variable or another setting, with a default: ${GRPC_PORT:9090}. The default may be a
	// reference too. HOCON has one that leaves the value before it in force if it is not set: ${?PORT}.
	reference       = lazyregexp.New(`^\$\{(\??[\w.-]*)(?::(.*))?\}$`)
	environmentName = source.Exactly(`[A-Z][A-Z0-9_]*`)
)

// isSettings reports whether a framework reads a file with this name, in any profile but those of tests.
func isSettings(name string) bool {
	m := settingsFile.FindStringSubmatch(name)
	return m != nil && !testProfile.MatchString(m[1])
}

var spelling = strings.NewReplacer("-", "", "_", "", `"`, "", "'", "")

// normalize returns a key without capitals, hyphens, underscores and quotes: Spring takes every spelling.
func normalize(key string) string { return strings.ToLower(spelling.Replace(key)) }

// readSettings reads a settings file of any format. If it cannot be read to its end, the settings before come with the
// error.
func readSettings(file string, text []byte) (all []setting, err error) {
	var documents []untrusted.Document
	if ext := path.Ext(file); ext == ".properties" || ext == ".conf" {
		documents = readLines(text)
	} else if documents, err = untrusted.ReadSettings(file, text); err != nil {
		all = append(all, setting{key: unknown, text: unknown})
	}
	for _, d := range documents {
		profile := settingsFile.FindStringSubmatch(path.Base(file))[1]
		for _, of := range d {
			if profileCondition.MatchString(normalize(of.Key)) {
				profile = cmp.Or(of.Value, unknown)
			}
		}
		for _, of := range d {
			m := relevantKey.FindStringSubmatch(normalize(of.Key))
			if m == nil || of.Value == "" || testProfile.MatchString(profile) {
				continue
			}
			s := setting{key: m[1], text: unknown, Place: plan.Place{Path: file, Line: of.Line}}
			if profile == "" {
				s.resolve(of.Value)
			}
			all = append(all, s)
		}
	}
	return all, err
}

// maxReferences is how many references are followed from one value to the next.
const maxReferences = 4

// resolve sets the value to the default of a reference.
func (s *setting) resolve(value string) {
	s.text = value
	for range maxReferences {
		m := reference.FindStringSubmatch(s.text)
		if m == nil {
			return
		}
		s.byDefault, s.text, s.variable = true, m[2], ""
		if name := strings.TrimPrefix(m[1], "?"); environmentName.MatchString(name) {
			s.variable = name
		}
	}
}

var (
	documentSeparator = lazyregexp.New(`^[#!]?---`)
	property          = lazyregexp.New(`^\s*"?([\w.%"\[\]-]+?)"?\s*[=:]\s*"?(.*?)"?\s*$`)
	blockBegin        = lazyregexp.New(`^\s*"?([\w.-]+)"?\s*[:=]?\s*\{\s*(?:(?:#|//).*)?$`)
	blockEnd          = lazyregexp.New(`^\s*\}`)
)

// maxDepth is how many blocks stand in each other. Files that people write have six.
const maxDepth = 16

// readLines reads what stands on lines of their own in a file of properties or an application.conf: a.b = c, with what
// the line a.b { before it says, in the second one. It leaves out the further lines of values that have several.
func readLines(text []byte) []untrusted.Document {
	documents := []untrusted.Document{nil}
	var within []string
	n := 0
	for line := range strings.Lines(string(source.TrimBOM(text))) {
		n++
		last := &documents[len(documents)-1]
		if documentSeparator.MatchString(line) {
			documents = append(documents, nil)
		} else if m := blockBegin.FindStringSubmatch(line); m != nil && len(within) < maxDepth {
			within = append(within, m[1])
		} else if m := property.FindStringSubmatch(line); m != nil {
			key := strings.Join(append(slices.Clip(within), m[1]), ".")
			*last = append(*last, untrusted.Setting{Key: key, Value: m[2], Line: n})
		} else if blockEnd.MatchString(line) && len(within) > 0 {
			within = within[:len(within)-1]
		}
	}
	return documents
}

// settings are those of a project by their keys.
type settings map[string]setting

// newSettings returns settings. Those with several values are unknown: which of several files is in force depends on
// the framework.
func newSettings(all []setting) settings {
	s := settings{}
	for _, of := range all {
		before, ok := s[of.key]
		switch {
		case ok && of.text == "" && of.byDefault: // it leaves the value before it in force
			before.byDefault, before.variable = true, of.variable
			of = before
		case ok && (before.text != of.text || before.byDefault != of.byDefault || before.variable != of.variable):
			of.text = unknown
		case ok:
			continue
		}
		s[of.key] = of
	}
	return s
}

// have reports whether a key has one of values, which are given as key=value, separated by spaces.
func (s settings) have(prefix, pairs string) bool {
	for pair := range strings.FieldsSeq(pairs) {
		key, value, _ := strings.Cut(prefix+pair, "=")
		if strings.EqualFold(s[key].text, value) {
			return true
		}
	}
	return false
}

// address returns the address that a setting is.
func (s setting) address() address.Address {
	a := address.Setting(s.text, s.Line)
	a.Place = s.Place
	if s.byDefault {
		a = address.ByDefault(a, s.variable)
	}
	return a
}

// serverKeys are the settings of a server that a framework makes, by the names in the framework's property classes, or
// in Play's reference.conf, in the spelling that normalize returns: what they begin with, and how they go on. "" stands
// for a setting that there is not.
type serverKeys struct {
	prefix, port string
	host         string // a host, an address or a Unix domain socket
	tls          string // what the keys begin with that give the server TLS
	// off is the setting by which the framework makes no server, as key=value, and health are those that disable
	// grpc.health.v1.
	off, health string
}

// frameworkKeys are the settings of the servers that frameworks make. Their sources are GrpcServerProperties.java of
// Spring gRPC, of net.devh and of grpc-starter, GRpcServerProperties.java of LogNet, GrpcServerConfiguration.java and
// SslServerConfig.java of Quarkus, GrpcServerConfiguration.java and GrpcSslConfiguration.java of Micronaut,
// ProtocolConfig.java of Dubbo, reference.conf of play-server, ListenerConfigBlueprint.java and TlsConfigBlueprint.java
// of Helidon, and ArmeriaSettings.java.
var frameworkKeys = map[string]serverKeys{
	springGRPC: {"spring.grpc.server.", "port", "host", "ssl.", "enabled=false", "health.enabled=false"},
	netDevh: {
		"grpc.server.", "port", "address", "security.enabled", "port=-1",
		"healthserviceenabled=false healthservice.type=none",
	},
	logNet:      {"grpc.", "port", "nettyserver.primarylistenaddress", "security.certchain", "enabled=false", ""},
	grpcStarter: {"grpc.server.", "port", "", "sslbundle", "enabled=false", "health.enabled=false"},
	quarkus:     {"quarkus.grpc.server.", "port", "host", "ssl.", "", "grpchealth.enabled=false"},
	micronaut:   {"grpc.server.", "port", "host", "ssl.", "enabled=false", "health.enabled=false"},
	dubbo:       {"dubbo.protocol.", "port", "host", "sslenabled", "", ""},
	playGRPC:    {"play.server.https.", "port", "address", "port", "", ""},
	helidon:     {"server.", "port", "host", "tls.", "", ""},
	armeria:     {"armeria.ports[0].", "port", "address", "protocol", "", ""},
}

// listener returns the listener on the address that settings name. A port that is not set is the one by default, if no
// settings that are not known can say otherwise.
func (s settings) listener(keys serverKeys, byDefault int) finding.Finding {
	host, hasHost := s[keys.prefix+keys.host]
	if a := host.address(); a.Certainty != address.Unknown || a.Host == address.UnixSocket {
		return finding.Listens(a, "") // both, or a socket
	}
	port, isSet := s[keys.prefix+keys.port]
	_, isUnread := s[unknown]
	a := port.address()
	switch {
	case port.text == unknown || !isSet && isUnread:
		return finding.Listens(address.Address{}, port.key+" is set in a profile, or elsewhere")
	case !isSet && byDefault != 0:
		a = address.Address{Port: byDefault, Certainty: address.Default}
	}
	if a.Host = address.AllInterfaces; hasHost {
		a.Host = address.HostOf(host.text)
	}
	return finding.Listens(a, "")
}

// transports returns what the settings of TLS say: whether it is on, or where its certificates are.
func (s settings) transports(keys serverKeys) []finding.Finding {
	var found []finding.Finding
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if keys.tls == "" || !strings.HasPrefix(key, keys.prefix+keys.tls) {
			continue
		}
		of := s[key]
		says := finding.UsesTLS
		switch text := strings.ToUpper(of.text); {
		case text == "FALSE" || text == "HTTP":
			says = finding.Insecure
		case of.byDefault || text == unknown:
			says = finding.UsesOther
		}
		found = append(found, says(finding.AtPlace(of.Place, ""), ""))
	}
	return found
}

// servesTriple reports whether the settings give Dubbo the protocol Triple, which is gRPC, by a key of one protocol or
// of several.
func (s settings) servesTriple() bool {
	for key, of := range s {
		if strings.HasPrefix(key, "dubbo.protocol") && strings.HasSuffix(key, ".name") && of.text == "tri" {
			return true
		}
	}
	return false
}

var (
	// springBeans is a file of Spring beans that may configure a protocol of Dubbo, and tripleElement the protocol
	// Triple.
	springBeans = lazyregexp.New(`(^|/)resources/(.*/)?[^/]*(dubbo|spring|provider|application)[^/]*\.xml$|` +
		`(^|/)resources/spring/[^/]+\.xml$`)
	xmlGrammar    = source.Grammar{source.BlockComment("<!--", "-->", false)}
	tripleElement = lazyregexp.New(`<dubbo:protocol\b[^>]*\bname="tri"(?:[^>]*\bport="(?P<port>[^"]*)")?`)
	beanRules     = []analyzer.Rule{{Code: tripleElement, Proves: finding.Constructs(dubbo)}}
)

// analyzeBeans analyzes a file of Spring beans. The protocol is there for services alone.
func analyzeBeans(text []byte) *analyzer.Result[extra] {
	t := xmlGrammar.Read(text)
	found := append(analyzer.Findings(t, beanRules, nil), analyzer.Listens(t, tripleElement)...)
	return &analyzer.Result[extra]{Findings: found}
}
