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
	key, text string // the key as normalize returns it
	plan.Place
	variable  string // the environment variable that replaces the value, "" for none
	byDefault bool   // something replaces the value
	inProfile bool   // it is in force in some profiles alone
	order     int    // that of its file: the smallest one is in force
	isGiven   bool   // it is from another project
}

// unread is the key of a setting that stands for those of a file which cannot be read to its end.
const unread = "?"

// settingsFiles are in force in every profile. The first have precedence over the last.
var settingsFiles = []string{
	"application.properties", "application.yml", "application.yaml", "application.conf", "bootstrap.yml",
	"bootstrap.yaml", "bootstrap.properties", "dubbo.properties", "microprofile-config.properties",
	"application.toml", "application.json",
}

var (
	// profileFile is a settings file of one profile, and testProfile one of tests, which is in force in no image.
	profileFile = source.Exactly(`(application)-([\w-]+)(\.(?:properties|ya?ml))`)
	testProfile = source.Exactly(`(?:[\w-]+-)?(?:(?:unit|integration|int)?-?tests?|it|e2e)`)
	// profileCondition is a key that puts the document that it stands in under a condition. It has one name since
	// Spring Boot 2.4 and had another before.
	profileCondition = lazyregexp.New(`^spring\.(?:config\.activate\.on(?:profile|cloudplatform)|profiles)(?:\[|$)`)
	// outputDir is where build tools write classes, with copies of the settings, which may be old.
	outputDir = lazyregexp.New(`(^|/)(target|build|out|bin)/`)
	// relevantKey is a key that decides about a server. Quarkus puts %prod. before what holds in production.
	relevantKey = lazyregexp.New(`^(%prod\.)?((?:spring\.grpc|quarkus\.(?:grpc|http)|grpc|server|dubbo|play\.server|` +
		`armeria)\b.*)$`)
	// reference is an environment variable or another setting, with a default: ${GRPC_PORT:9090}. The default may be a
	// reference too. HOCON has one that leaves the value before it in force if it is not set: ${?PORT}.
	reference       = lazyregexp.New(`^\$\{(\??[\w.-]*)(?::(.*))?\}$`)
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
func readSettings(file string, text []byte) (all []setting, err error) {
	var documents []untrusted.Document
	name := path.Base(file)
	if ext := path.Ext(file); ext == ".properties" || ext == ".conf" {
		documents = readLines(text)
	} else if documents, err = untrusted.ReadSettings(file, text); err != nil {
		all = append(all, setting{key: unread})
	}
	order := slices.Index(settingsFiles, profileFile.ReplaceAllString(name, "$1$3"))
	if outputDir.MatchString(file) {
		order += len(settingsFiles)
	}
	for _, d := range documents {
		i := slices.IndexFunc(d, func(of untrusted.Setting) bool {
			return profileCondition.MatchString(normalize(of.Key))
		})
		if i >= 0 && testProfile.MatchString(d[i].Value) {
			continue
		}
		inProfile := i >= 0 || profileFile.MatchString(name)
		for _, of := range d {
			m := relevantKey.FindStringSubmatch(normalize(of.Key))
			if m == nil || of.Value == "" {
				continue
			}
			at := plan.Place{Path: file, Line: of.Line}
			s := setting{key: m[2], Place: at, inProfile: inProfile, order: order}
			if m[1] != "" {
				s.order = -1
			}
			s.resolve(of.Value)
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

// settings are those in force, by their keys, and the keys of which that is not known.
type settings struct {
	values map[string]setting
	isOpen map[string]bool
}

func newSettings(all []setting) settings {
	s := settings{map[string]setting{}, map[string]bool{}}
	slices.SortStableFunc(all, func(a, b setting) int { return b.order - a.order })
	for _, of := range all {
		before, ok := s.values[of.key]
		switch {
		case of.inProfile || of.key == unread:
			s.isOpen[of.key] = true
			continue
		case ok && of.text == "": // it leaves the value before it in force
			before.byDefault, before.variable = true, of.variable
			of = before
		}
		s.values[of.key] = of
	}
	return s
}

// addOthers adds the settings of another project, which is built with this one, as far as it has none itself. Which are
// in force is not known if others have had other ones.
func (s *settings) addOthers(others settings) {
	for key, of := range others.values {
		of.isGiven = true
		before, ok := s.values[key]
		if !ok {
			s.values[key] = of
		} else if before.isGiven && before.text != of.text {
			s.isOpen[key] = true
		}
	}
	maps.Copy(s.isOpen, others.isOpen)
}

// have reports whether a key has one of values, which are given as key=value, separated by spaces.
func (s *settings) have(prefix, pairs string) bool {
	for pair := range strings.FieldsSeq(pairs) {
		key, value, _ := strings.Cut(prefix+pair, "=")
		if strings.EqualFold(s.values[key].text, value) && !s.isOpen[key] {
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

// webKeys are the settings of the web servers that serve gRPC too if the app asks for it: Spring's of
// ServerProperties.java, Quarkus' of VertxHttpConfig.java, and Play's without TLS. Helidon 1 to 3 have a server for
// gRPC alone.
var webKeys = map[string]serverKeys{
	springGRPC: {"server.", "port", "address", "ssl.", "", ""},
	quarkus:    {"quarkus.http.", "port", "host", "", "", ""},
	playGRPC:   {"play.server.http.", "port", "address", "", "", ""},
	helidon:    {"grpc.", "port", "", "", "", ""},
}

// listener returns the listener on the address that settings name. A port that is not set is the one by default, if no
// settings that are not known can say otherwise.
func (s *settings) listener(keys serverKeys, byDefault int) finding.Finding {
	hostKey, portKey := keys.prefix+keys.host, keys.prefix+keys.port
	host, hasHost := s.values[hostKey]
	if a := host.address(); a.Certainty != address.Unknown || a.Host == address.UnixSocket {
		return finding.Listens(a, "") // both, or a socket
	}
	port, isSet := s.values[portKey]
	a := port.address()
	switch {
	case s.isOpen[portKey] || s.isOpen[unread] && !isSet:
		return finding.Listens(address.Address{}, portKey+" is set in a profile, or elsewhere")
	case !isSet && byDefault != 0:
		a = address.Address{Port: byDefault, Certainty: address.Default}
	}
	if a.Host = address.AllInterfaces; s.isOpen[hostKey] {
		a.Host = address.UnknownHost
	} else if hasHost {
		a.Host = address.HostOf(host.text)
	}
	return finding.Listens(a, "")
}

// transports returns what the settings of TLS say: whether it is on, or where its certificates are.
func (s *settings) transports(keys serverKeys) []finding.Finding {
	var found []finding.Finding
	for _, key := range slices.Sorted(maps.Keys(s.values)) {
		if keys.tls == "" || !strings.HasPrefix(key, keys.prefix+keys.tls) {
			continue
		}
		of := s.values[key]
		says := finding.UsesTLS
		switch text := strings.ToUpper(of.text); {
		case text == "FALSE" || text == "HTTP":
			says = finding.Insecure
		case of.byDefault:
			says = finding.UsesOther
		}
		found = append(found, says(finding.AtPlace(of.Place, ""), ""))
	}
	return found
}

// servesTriple reports whether the settings give Dubbo the protocol Triple, which is gRPC, by a key of one protocol or
// of several.
func (s *settings) servesTriple() bool {
	for key, of := range s.values {
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
	tripleElement = lazyregexp.New(`<dubbo:protocol\b[^>]*\bname="tri"(?:[^>]*\bport="([^"]*)")?`)
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
		result.Extra.settings = []setting{{key: "dubbo.protocol.name", text: "tri", Place: at}}
		if m[2] >= 0 {
			port := setting{key: "dubbo.protocol.port", text: string(t.Raw[m[2]:m[3]]), Place: at}
			result.Extra.settings = append(result.Extra.settings, port)
		}
	}
	return result
}
