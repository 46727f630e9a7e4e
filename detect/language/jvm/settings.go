package jvm

import (
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

// setting is a value in the configuration of a framework.
type setting struct {
	key, text string // the key is normalized
	plan.Place
	variable  string // the environment variable that replaces the value, "" for none
	byDefault bool   // something replaces the value
	inProfile bool   // the value is for some profiles
}

// unknown is the text of a setting of some profiles or with several values, and the key of the setting that stands for
// the unread rest of a file.
const unknown = "?"

var (
	// settingsFile is a file name that a framework reads, and testProfile a profile of tests, never active in an image.
	settingsFile = source.Exactly(`(?:(?:application(?:-(?P<profile>[\w-]+))?|bootstrap)\.(?:properties|ya?ml)|` +
		`application\.(?:conf|toml|json)|(?:dubbo|microprofile-config)\.properties)`)
	testProfile = source.Exactly(`(?:[\w-]+-)?(?:(?:unit|integration|int)?-?tests?|it|e2e)`)
	// profileCondition is the key of a condition on the whole document, by the name since Spring Boot 2.4 and by the
	// name before.
	profileCondition = lazyregexp.New(`^spring\.(?:config\.activate\.on(?:profile|cloudplatform)|profiles)(?:\[|$)`)
	// outputDir is a build tool's directory for classes, with copies of the settings that may be old.
	outputDir = lazyregexp.New(`(^|/)(target|build|out|bin)/`)
	// relevantKey is a key that decides about a server. Quarkus puts %prod. before the keys for production.
	relevantKey = lazyregexp.New(`^(?:%prod\.)?((?:spring\.grpc|quarkus\.(?:grpc|http)|grpc|server|dubbo|` +
		`play\.server|armeria)\b.*)$`)
	// reference is an environment variable or a setting, with a default: ${GRPC_PORT:9090}. The default may be a
	// reference too. In HOCON, ${?PORT} keeps the previous value if PORT is not set.
	reference       = lazyregexp.New(`^\$\{(\??[\w.-]*)(?::(.*))?\}$`)
	environmentName = source.Exactly(`[A-Z][A-Z0-9_]*`)
)

// isSettings reports whether a framework reads a file with the name, in any profile except the profiles of tests.
func isSettings(name string) bool {
	m := settingsFile.FindStringSubmatch(name)
	return m != nil && !testProfile.MatchString(m[1])
}

var spelling = strings.NewReplacer("-", "", "_", "", `"`, "", "'", "")

// normalize returns a key without capitals, hyphens, underscores and quotes: Spring takes every spelling.
func normalize(key string) string { return strings.ToLower(spelling.Replace(key)) }

// readSettings reads a settings file of any format. If the file cannot be read to the end, the settings before come
// with the error.
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
			// A list has no value before its elements, nor has the key above spring.profiles.active.
			if of.Value != "" && profileCondition.MatchString(normalize(of.Key)) {
				profile = of.Value
			}
		}
		for _, of := range d {
			m := relevantKey.FindStringSubmatch(normalize(of.Key))
			if m == nil || of.Value == "" || testProfile.MatchString(profile) {
				continue
			}
			s := setting{key: m[1], Place: plan.Place{Path: file, Line: of.Line}, inProfile: profile != ""}
			s.resolve(of.Value)
			all = append(all, s)
		}
	}
	return all, err
}

// maxReferences is how many references are followed from value to value.
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

// maxDepth is the maximum nesting of blocks. Handwritten files have six.
const maxDepth = 16

// readLines reads the properties of a .properties file or an application.conf, one per line: a.b = c, in the
// application.conf also within blocks that begin with a.b {. Further lines of a value are left out.
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

// settings are the settings of a project by key.
type settings map[string]setting

// newSettings makes settings with several values unknown: the precedence of files depends on the framework. So are
// values of profiles alone.
func newSettings(all []setting) settings {
	s := settings{}
	for _, of := range all {
		before, ok := s[of.key]
		switch {
		case ok && of.text == "" && of.byDefault: // keeps the previous value
			before.byDefault, before.variable = true, of.variable
			of = before
		case ok && (before.text != of.text || before.byDefault != of.byDefault || before.variable != of.variable):
			of.text = unknown
		case ok && (of.inProfile || !before.inProfile):
			continue
		}
		s[of.key] = of
	}
	for key, of := range s {
		if of.inProfile {
			of.text = unknown
			s[key] = of
		}
	}
	return s
}

// have reports whether one of the pairs key=value, separated by spaces, holds for keys with the prefix.
func (s settings) have(prefix, pairs string) bool {
	for pair := range strings.FieldsSeq(pairs) {
		key, value, _ := strings.Cut(prefix+pair, "=")
		if strings.EqualFold(s[key].text, value) {
			return true
		}
	}
	return false
}

func (s setting) address() address.Address {
	a := address.Setting(s.text, s.Line)
	a.Place = s.Place
	if s.byDefault {
		a = address.ByDefault(a, s.variable)
	}
	return a
}

// serverKeys are the keys of a framework's server, by the names in the framework's property classes or in Play's
// reference.conf, in the spelling of normalize: a prefix and the rest of each key. "" stands for a missing setting.
type serverKeys struct {
	prefix, port string
	host         string // a host, an address or a Unix domain socket
	tls          string // the beginning of the keys for TLS
	// off is the setting that disables the server, as key=value, and health are the settings that disable
	// grpc.health.v1.
	off, health string
}

// frameworkKeys are the keys by framework. The sources are GrpcServerProperties.java of Spring gRPC, of net.devh and of
// grpc-starter, GRpcServerProperties.java of LogNet, GrpcServerConfiguration.java and SslServerConfig.java of Quarkus,
// GrpcServerConfiguration.java and GrpcSslConfiguration.java of Micronaut, ProtocolConfig.java of Dubbo, reference.conf
// of play-server, ListenerConfigBlueprint.java and TlsConfigBlueprint.java of Helidon, and ArmeriaSettings.java.
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

// listener returns the listener on the configured address. A port that is not set is the default port, unless a part
// of the settings is unread.
func (s settings) listener(keys serverKeys, byDefault int) finding.Finding {
	host, hasHost := s[keys.prefix+keys.host]
	if a := host.address(); a.Certainty != address.Unknown || a.Host == address.UnixSocket {
		return finding.Listens(a, "") // host and port, or a socket
	}
	port, isSet := s[keys.prefix+keys.port]
	_, isUnread := s[unknown]
	a := port.address()
	switch {
	case port.text == unknown || !isSet && isUnread:
		return finding.Listens(address.Address{Place: port.Place},
			keys.prefix+keys.port+" has several values, a profile sets it, or a file with settings is not read")
	case !isSet && byDefault != 0:
		a = address.Address{Port: byDefault, Certainty: address.Default}
	}
	if a.Host = address.AllInterfaces; hasHost {
		a.Host = address.HostOf(host.text)
	}
	return finding.Listens(a, "")
}

// transports returns the findings of the TLS settings: whether TLS is on, or where the certificates are.
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

// servesTriple reports whether the settings give Dubbo the protocol Triple, which is gRPC, by the key of a single
// protocol or of several protocols.
func (s settings) servesTriple() bool {
	for key, of := range s {
		if strings.HasPrefix(key, "dubbo.protocol") && strings.HasSuffix(key, ".name") && of.text == "tri" {
			return true
		}
	}
	return false
}

var (
	// springBeans is a file of Spring beans that may configure a protocol of Dubbo; tripleElement configures Triple.
	springBeans = lazyregexp.New(`(^|/)resources/(.*/)?[^/]*(dubbo|spring|provider|application)[^/]*\.xml$|` +
		`(^|/)resources/spring/[^/]+\.xml$`)
	xmlGrammar    = source.Grammar{source.BlockComment("<!--", "-->", false)}
	tripleElement = lazyregexp.New(`<dubbo:protocol\b[^>]*\bname="tri"(?:[^>]*\bport="(?P<port>[^"]*)")?`)
	beanRules     = []analyzer.Rule{{Code: tripleElement, Proves: finding.Constructs(dubbo)}}
)

// analyzeBeans analyzes a file of Spring beans. Only services need the protocol.
func analyzeBeans(text []byte) *analyzer.Result[extra] {
	t := xmlGrammar.Read(text)
	found := append(analyzer.Findings(t, beanRules, nil), analyzer.Listens(t, tripleElement)...)
	return &analyzer.Result[extra]{Findings: found}
}
