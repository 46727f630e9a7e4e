package jvm

import (
	"bytes"
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
	key  string // in the spelling that normalize returns
	text string
	plan.Place
	variable  string // the environment variable that replaces it, "" for none
	byDefault bool   // something replaces it
	inProfile bool   // it is in force in some profiles alone
	order     int    // that of its file: one with a smaller number is in force
}

// settingsFiles are in force in every profile. The first have precedence over the last. Micronaut alone reads those
// from onlyMicronaut on.
var settingsFiles = []string{
	"application.properties", "application.yml", "application.yaml", "application.conf", "bootstrap.yml",
	"bootstrap.yaml", "bootstrap.properties", "dubbo.properties", "microprofile-config.properties",
	"application.toml", "application.json",
}

const onlyMicronaut = 9

var (
	// profileFile is a settings file of one profile, and testProfile one of tests, which is in force in no image.
	profileFile = source.Exactly(`(?P<base>application)-(?P<profile>[\w-]+)(?P<ext>\.(?:properties|ya?ml))`)
	testProfile = source.Exactly(`(?:[\w-]+-)?(?:(?:unit|integration|int)?-?tests?|it|e2e)`)
	// profileCondition is a key that puts the document that it stands in under a condition. It has one name since
	// Spring Boot 2.4 and had another before.
	profileCondition = lazyregexp.New(
		`^spring\.(?:config\.activate\.on(?:profile|cloudplatform)|profiles)(?:\[|$)`)
	// outputDir is where build tools write classes, with copies of the settings, which may be old.
	outputDir = lazyregexp.New(`(^|/)(target|build|out|bin)/`)
	// relevantKey is a key that decides about a server. Quarkus puts %prod. before what holds in production.
	relevantKey = lazyregexp.New(`^(%prod\.)?((?:spring\.(?:grpc|config|profiles)|quarkus\.(?:grpc|http)|grpc|server|` +
		`dubbo|play\.server|armeria)\b.*)$`)
	// reference is an environment variable or another setting, with a default: ${GRPC_PORT:9090}. The default may be a
	// reference too. HOCON has one that leaves the value before it in force if it is not set: ${?PORT}.
	reference = lazyregexp.New(`^\$\{(\??[\w.-]*)(?::(.*))?\}$`)
	// environmentName is a key that is the name of an environment variable.
	environmentName = source.Exactly(`[A-Z][A-Z0-9_]*`)
)

// isSettings reports whether a framework reads a file with this name, in any profile but those of tests.
func isSettings(name string) bool {
	m := profileFile.FindStringSubmatch(name)
	return slices.Contains(settingsFiles, name) || m != nil && !testProfile.MatchString(m[2])
}

var spelling = strings.NewReplacer("-", "", "_", "", `"`, "", "'", "")

// normalize returns a key without capitals, hyphens, underscores and quotes: Spring takes every spelling.
func normalize(key string) string { return strings.ToLower(spelling.Replace(key)) }

// readSettings reads a settings file of any format. If it cannot be read to its end, the settings before come with the
// error.
func readSettings(file string, text []byte) ([]setting, error) {
	var documents []untrusted.Document
	var err error
	switch path.Ext(file) {
	case ".properties":
		documents = readProperties(text)
	case ".conf":
		documents = readConf(text)
	default:
		documents, err = untrusted.ReadSettings(file, text)
	}
	name := path.Base(file)
	isProfile := profileFile.MatchString(name)
	order := slices.Index(settingsFiles, profileFile.ReplaceAllString(name, "${base}${ext}"))
	if outputDir.MatchString(file) {
		order += len(settingsFiles)
	}
	var all []setting
	for _, d := range documents {
		i := slices.IndexFunc(d, func(of untrusted.Setting) bool {
			return profileCondition.MatchString(normalize(of.Key))
		})
		if i >= 0 && testProfile.MatchString(d[i].Value) {
			continue
		}
		inProfile := isProfile || i >= 0
		for _, of := range d {
			if m := relevantKey.FindStringSubmatch(normalize(of.Key)); m != nil && of.Value != "" {
				s := setting{key: m[2], Place: plan.Place{Path: file, Line: of.Line}, inProfile: inProfile, order: order}
				if m[1] != "" {
					s.order = -1
				}
				s.resolve(of.Value)
				all = append(all, s)
			}
		}
	}
	if err != nil {
		all = append(all, setting{key: unread, order: order})
	}
	return all, err
}

// unread is a key for a file of which a part could not be read.
const unread = "?"

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
	documentSeparator = lazyregexp.New(`(?m)^[#!]?---.*$`)
	property          = lazyregexp.New(`^\s*([\w.%"\[\]-]+)\s*[=:]\s*(.*?)\s*$`)
	confBlock         = lazyregexp.New(`^\s*"?([\w.-]+)"?\s*[:=]?\s*\{\s*(?:(?:#|//).*)?$`)
	confValue         = lazyregexp.New(`^\s*"?([\w.-]+)"?\s*[:=]\s*"?([^"#]*?)"?\s*(?:(?:#|//).*)?$`)
	confEnd           = lazyregexp.New(`^\s*\}`)
)

// readProperties reads a .properties file. It leaves out the further lines of values that have several.
func readProperties(text []byte) []untrusted.Document {
	documents := []untrusted.Document{nil}
	n := 0
	for line := range strings.Lines(string(source.TrimBOM(text))) {
		n++
		last := &documents[len(documents)-1]
		if documentSeparator.MatchString(line) {
			documents = append(documents, nil)
		} else if m := property.FindStringSubmatch(line); m != nil {
			*last = append(*last, untrusted.Setting{Key: m[1], Value: m[2], Line: n})
		}
	}
	return documents
}

// readConf reads what stands on lines of their own in an application.conf: a.b = c, and the line a.b { before it.
func readConf(text []byte) []untrusted.Document {
	var all untrusted.Document
	var within []string
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if m := confBlock.FindStringSubmatch(line); m != nil && len(within) < maxDepth {
			within = append(within, m[1])
		} else if m := confValue.FindStringSubmatch(line); m != nil {
			key := strings.Join(append(slices.Clip(within), m[1]), ".")
			all = append(all, untrusted.Setting{Key: key, Value: m[2], Line: n})
		} else if confEnd.MatchString(line) && len(within) > 0 {
			within = within[:len(within)-1]
		}
	}
	return []untrusted.Document{all}
}

// maxDepth is how many levels of nested objects are read. Files that people write have six.
const maxDepth = 16

// settings are those in force, by their keys, and the keys of which that is not known.
type settings struct {
	values map[string]setting
	isOpen map[string]bool
}

// put adds settings that have no precedence over those that are there.
func (s *settings) put(all []setting, framework string) {
	if s.values == nil {
		s.values, s.isOpen = map[string]setting{}, map[string]bool{}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(of setting) bool {
		return of.order%len(settingsFiles) >= onlyMicronaut && framework != micronaut
	})
	slices.SortStableFunc(all, func(a, b setting) int { return b.order - a.order })
	own := map[string]setting{}
	for _, of := range all {
		switch before, ok := own[of.key]; {
		case of.inProfile || of.key == unread:
			s.isOpen[of.key] = true
		case ok && of.text == "" && before.order == of.order: // it leaves the value before it in force
			before.byDefault, before.variable = true, of.variable
			own[of.key] = before
		default:
			own[of.key] = of
		}
	}
	for key, of := range own {
		if _, ok := s.values[key]; !ok {
			s.values[key] = of
		}
	}
}

// addOthers adds the settings of another project, which is built with this one, as far as it has none itself. Which are
// in force is not known if others have had other ones.
func (s *settings) addOthers(others settings, given map[string]string) {
	for key, of := range others.values {
		before, isGiven := given[key]
		if _, ok := s.values[key]; !ok {
			s.values[key], given[key] = of, of.text
		} else if isGiven && before != of.text {
			s.isOpen[key] = true
		}
	}
	for key := range others.isOpen {
		s.isOpen[key] = true
	}
}

// have reports whether a key has a value, which are given as key=value.
func (s *settings) have(pair string) bool {
	key, value, _ := strings.Cut(pair, "=")
	return strings.EqualFold(s.values[key].text, value) && !s.isOpen[key]
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

// listener returns the listener on the address that settings name. A port that is not set is the one by default, if no
// settings that are not known can say otherwise.
func (s *settings) listener(keys serverKeys, byDefault int) finding.Finding {
	host, hasHost := s.values[keys.host]
	if a := host.address(); a.Certainty != address.Unknown || a.Host == address.UnixSocket {
		return finding.Listens(a, "") // both, or a socket
	}
	port, isSet := s.values[keys.port]
	a := port.address()
	switch {
	case s.isOpen[keys.port] || s.isOpen[unread] && !isSet:
		return finding.Listens(address.Address{}, keys.port+" is set in a profile, or elsewhere")
	case !isSet && byDefault != 0:
		a = address.Address{Port: byDefault, Certainty: address.Default}
	}
	if a.Host = address.AllInterfaces; s.isOpen[keys.host] {
		a.Host = address.UnknownHost
	} else if hasHost {
		a.Host = address.HostOf(host.text)
	}
	return finding.Listens(a, "")
}

// transport returns what the settings of TLS say: whether it is on, or where its certificates are.
func (s *settings) transport(keys serverKeys) []finding.Finding {
	says := finding.Make(nil)
	var at plan.Place
	for _, key := range slices.Sorted(maps.Keys(s.values)) {
		of := s.values[key]
		if keys.tls == "" || !strings.HasPrefix(key, keys.tls) {
			continue
		}
		switch at = of.Place; {
		case strings.EqualFold(of.text, "false") || strings.EqualFold(of.text, "HTTP"):
			return []finding.Finding{finding.Insecure(finding.AtPlace(of.Place, ""), "")}
		case of.byDefault:
			says = finding.UsesOther
		case says == nil:
			says = finding.UsesTLS
		}
	}
	if says == nil && (keys.tls != "" && s.isOpen[keys.tls] || s.isOpen[unread]) {
		says = finding.UsesOther
	}
	if says == nil {
		return nil
	}
	return []finding.Finding{says(finding.AtPlace(at, ""), "")}
}

// serverKeys are the settings of a server that a framework makes, by the names in the framework's property classes, or
// in Play's reference.conf, in the spelling that normalize returns. "" stands for a setting that there is not.
type serverKeys struct {
	port string
	host string // a host, an address or a Unix domain socket
	// off is the setting by which the framework makes no server, as key=value, and health are those that disable
	// grpc.health.v1.
	off    string
	health []string
	tls    string // what the keys of the settings begin with that give the server TLS
}

// frameworkKeys are the settings of the servers that frameworks make. Their sources are GrpcServerProperties.java of
// Spring gRPC, of net.devh and of grpc-starter, GRpcServerProperties.java of LogNet, GrpcServerConfiguration.java and
// SslServerConfig.java of Quarkus, GrpcServerConfiguration.java and GrpcSslConfiguration.java of Micronaut,
// ProtocolConfig.java of Dubbo, reference.conf of play-server, ListenerConfigBlueprint.java and TlsConfigBlueprint.java
// of Helidon, and ArmeriaSettings.java.
var frameworkKeys = map[string]serverKeys{
	springGRPC: {
		port: "spring.grpc.server.port", host: "spring.grpc.server.host", tls: "spring.grpc.server.ssl.",
		off: "spring.grpc.server.enabled=false", health: []string{"spring.grpc.server.health.enabled=false"},
	},
	netDevh: {
		port: "grpc.server.port", host: "grpc.server.address", tls: "grpc.server.security.enabled",
		off:    "grpc.server.port=-1",
		health: []string{"grpc.server.healthserviceenabled=false", "grpc.server.healthservice.type=none"},
	},
	logNet: {
		port: "grpc.port", host: "grpc.nettyserver.primarylistenaddress", tls: "grpc.security.certchain",
		off: "grpc.enabled=false",
	},
	grpcStarter: {
		port: "grpc.server.port", tls: "grpc.server.sslbundle",
		off: "grpc.server.enabled=false", health: []string{"grpc.server.health.enabled=false"},
	},
	quarkus: {
		port: "quarkus.grpc.server.port", host: "quarkus.grpc.server.host", tls: "quarkus.grpc.server.ssl.",
		health: []string{"quarkus.grpc.server.grpchealth.enabled=false"},
	},
	micronaut: {
		port: "grpc.server.port", host: "grpc.server.host", tls: "grpc.server.ssl.",
		off: "grpc.server.enabled=false", health: []string{"grpc.server.health.enabled=false"},
	},
	dubbo:    {port: dubboPort, host: "dubbo.protocol.host", tls: "dubbo.protocol.sslenabled"},
	playGRPC: {port: "play.server.https.port", host: "play.server.https.address", tls: "play.server.https.port"},
	helidon:  {port: "server.port", host: "server.host", tls: "server.tls."},
	armeria: {
		port: "armeria.ports[0].port", host: "armeria.ports[0].address", tls: "armeria.ports[0].protocol",
	},
}

// webKeys are the settings of the web servers that serve gRPC too if the app asks for it: Spring's of
// ServerProperties.java, Quarkus' of VertxHttpConfig.java, and Play's without TLS.
var webKeys = map[string]serverKeys{
	springGRPC: {port: "server.port", host: "server.address", tls: "server.ssl."},
	quarkus:    {port: "quarkus.http.port", host: "quarkus.http.host"},
	playGRPC:   {port: "play.server.http.port", host: "play.server.http.address"},
	helidon:    {port: "grpc.port"},
}

// The keys of Dubbo's settings that decide about a server.
const (
	dubboProtocol = "dubbo.protocol.name"
	dubboPort     = "dubbo.protocol.port"
	dubboHealth   = "dubbo.tri.builtin.service.init=true"
)

// servesTriple reports whether the settings give Dubbo the protocol Triple, which is gRPC, by a key of one protocol or of
// several.
func (s *settings) servesTriple() bool {
	for key, value := range s.values {
		if strings.HasPrefix(key, "dubbo.protocol") && strings.HasSuffix(key, ".name") && value.text == "tri" {
			return true
		}
	}
	return false
}

var (
	xmlGrammar = source.Grammar{source.BlockComment("<!--", "-->", false)}
	// springBeans is a file of Spring beans that may configure a protocol of Dubbo.
	springBeans = lazyregexp.New(`(^|/)resources/(.*/)?[^/]*(dubbo|spring|provider|application)[^/]*\.xml$|` +
		`(^|/)resources/spring/[^/]+\.xml$`)
	// tripleElement is the protocol Triple, and portAttribute its port.
	tripleElement = lazyregexp.New(`<dubbo:protocol\b[^>]*\bname="tri"[^>]*`)
	portAttribute = lazyregexp.New(`\bport="([^"]*)"`)
	beanRules     = []analyzer.Rule{{Code: lazyregexp.New(`<dubbo:service\b`), Proves: exportsToDubbo}}
)

// analyzeDubboBeans analyzes a file of Spring beans. The result is nil if it has nothing of Dubbo.
func analyzeDubboBeans(file string, text []byte) *analyzer.Result[extra] {
	if !bytes.Contains(text, []byte("<dubbo:")) {
		return nil
	}
	t := xmlGrammar.Read(text)
	result := &analyzer.Result[extra]{Findings: analyzer.Findings(t, beanRules, nil)}
	for _, m := range t.FindAll(tripleElement, 1) {
		at := plan.Place{Path: file, Line: t.Line(m[0])}
		result.Extra.settings = []setting{{key: dubboProtocol, text: "tri", Place: at}}
		if port := portAttribute.FindSubmatch(t.Code[m[0]:m[1]]); port != nil {
			result.Extra.settings = append(result.Extra.settings, setting{key: dubboPort, text: string(port[1]), Place: at})
		}
	}
	return result
}
