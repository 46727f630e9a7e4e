package plan

import (
	"reflect"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// The keys of the plan entry's metadata. The keys of the leading server stand at the top, the keys of each further
// server in a table of keyOthers.
const (
	keyLanguage         = "language"
	keyTitle            = "language_title"
	keyFramework        = "framework"
	keyEvidence         = "evidence"
	keyHealth           = "health"
	keyHealthEvidence   = "health_evidence"
	keyHealthAdvice     = "health_advice"
	keyService          = "health_service"
	keyServiceUnknown   = "health_service_unknown"
	keyLiveness         = "health_liveness_service"
	keyStatusName       = "health_status_name"
	keyStatusEvidence   = "health_status_evidence"
	keySpeaksFirst      = "speaks_first"
	keyHost             = "host"
	keyPort             = "port"
	keySocket           = "socket"
	keyVariable         = "address_variable"
	keyCertainty        = "address_certainty"
	keyAddressEvidence  = "port_evidence"
	keySecurity         = "security"
	keySecurityEvidence = "security_evidence"
	keyOthers           = "other_servers"
	keyUnlisted         = "unlisted_servers"
	keyWhyLeads         = "leads_because"
)

const (
	// MaxListed bounds the servers in the plan, the log and the label: as many as users read, however many an app has.
	MaxListed = 30
	// maxUnlisted exceeds the number of files that detection reads.
	maxUnlisted = 1_000_000
)

// The words for hosts and certainties in the plan, indexed by value. Unknown values have no word.
var (
	hosts       = []string{"", "all", "loopback", "interface", "socket"}
	certainties = []string{"", "default", "written"}
)

// Servers are the servers of an app.
type Servers struct {
	// Listed are the first servers, at most MaxListed; the first leads.
	Listed []Server
	// Unlisted is the number of further servers.
	Unlisted int
	// WhyLeads says why the first server leads; "" for a single server.
	WhyLeads string
}

// List returns the servers of an app from a sorted list, the leading server first.
func List(all []Server) Servers {
	listed := min(len(all), MaxListed)
	return Servers{all[:listed], len(all) - listed, WhyLeads(all)}
}

// Lead returns the leading server, or the zero value without servers.
func (s Servers) Lead() Server {
	if len(s.Listed) == 0 {
		return Server{}
	}
	return s.Listed[0]
}

// Metadata returns the servers as metadata of the plan entry: TOML strings, integers for the numbers, and a table for
// each server but the first. Unknown values have no key.
func (s Servers) Metadata() map[string]any {
	if len(s.Listed) == 0 {
		return map[string]any{}
	}
	metadata := s.Listed[0].metadata()
	var others []map[string]any
	for _, other := range s.Listed[1:] {
		others = append(others, other.metadata())
	}
	if others != nil {
		metadata[keyOthers] = others
	}
	if s.Unlisted != 0 {
		metadata[keyUnlisted] = int64(s.Unlisted)
	}
	if s.WhyLeads != "" {
		metadata[keyWhyLeads] = s.WhyLeads
	}
	return metadata
}

// ServersFromMetadata is the inverse of Servers.Metadata. Any buildpack may have written the entry: a value of the
// wrong type or range counts as unknown, and every returned text is fit to print.
func ServersFromMetadata(metadata map[string]any) Servers {
	lead := serverFromMetadata(metadata)
	if lead.isZero() {
		return Servers{}
	}
	s := Servers{Listed: []Server{lead}, Unlisted: number(metadata, keyUnlisted, maxUnlisted)}
	if why, ok := metadata[keyWhyLeads].(string); ok {
		s.WhyLeads = Printable(why)
	}
	for _, table := range tables(metadata[keyOthers]) {
		if other := serverFromMetadata(table); len(s.Listed) < MaxListed && !other.isZero() {
			s.Listed = append(s.Listed, other)
		}
	}
	return s
}

func (s Server) isZero() bool { return reflect.DeepEqual(s, Server{}) }

// tables returns the tables of a list of either Go type: decoders differ.
func tables(list any) []map[string]any {
	switch list := list.(type) {
	case []map[string]any:
		return list
	case []any:
		var all []map[string]any
		for _, item := range list {
			if table, ok := item.(map[string]any); ok {
				all = append(all, table)
			}
		}
		return all
	}
	return nil
}

func (s Server) metadata() map[string]any {
	metadata := map[string]any{}
	for key, text := range map[string]string{
		keyLanguage: s.Language, keyTitle: s.Title, keyFramework: s.Framework, keyEvidence: s.Evidence.String(),
		keyHealth: string(s.Health), keyHealthEvidence: s.HealthEvidence.String(), keyHealthAdvice: s.HealthAdvice,
		keyService: s.Service, keyLiveness: s.Liveness, keyStatusName: s.StatusName,
		keyStatusEvidence: s.StatusEvidence.String(),
		keyHost:           hosts[s.Address.Host], keySocket: s.Address.Socket, keyVariable: s.Address.Variable,
		keyCertainty: certainties[s.Address.Certainty], keyAddressEvidence: s.Address.Place.String(),
		keySecurity: string(s.Security.Transport), keySecurityEvidence: s.Security.Place.String(),
	} {
		if text != "" {
			metadata[key] = text
		}
	}
	if s.IsServiceUnknown {
		metadata[keyServiceUnknown] = true
	}
	if s.SpeaksFirst {
		metadata[keySpeaksFirst] = true
	}
	if s.Address.Port != 0 && s.Address.Certainty != Unknown {
		metadata[keyPort] = int64(s.Address.Port)
	}
	return metadata
}

func serverFromMetadata(metadata map[string]any) Server {
	text := func(key string) string {
		s, _ := metadata[key].(string)
		return s
	}
	s := Server{
		Language:       Printable(text(keyLanguage)),
		Title:          Printable(text(keyTitle)),
		Framework:      Printable(text(keyFramework)),
		Evidence:       parsePlace(text(keyEvidence)),
		HealthEvidence: parsePlace(text(keyHealthEvidence)),
		HealthAdvice:   Printable(text(keyHealthAdvice)),
		StatusName:     Printable(text(keyStatusName)),
		StatusEvidence: parsePlace(text(keyStatusEvidence)),
		Address: Address{
			Host: Host(indexOf(hosts, text(keyHost))), Port: number(metadata, keyPort, MaxPort),
			Socket: Printable(text(keySocket)), Place: parsePlace(text(keyAddressEvidence)),
			Certainty: Certainty(indexOf(certainties, text(keyCertainty))),
		},
		Security: Security{Place: parsePlace(text(keySecurityEvidence))},
	}
	if s.Address.Port != 0 && s.Address.Certainty == Unknown {
		s.Address.Certainty = Default
	}
	s.Built = s.Evidence.Path != "" && s.Evidence.Line == 0
	if name := text(keyVariable); variableName(name) {
		s.Address.Variable = name
	}
	if names := text(keyService); !slices.ContainsFunc(strings.Split(names, ","), isNoServiceName) {
		s.Service = names
	}
	if name := text(keyLiveness); IsServiceName(name) {
		s.Liveness = name
	}
	s.IsServiceUnknown, _ = metadata[keyServiceUnknown].(bool)
	s.SpeaksFirst, _ = metadata[keySpeaksFirst].(bool)
	switch h := Health(text(keyHealth)); h {
	case HealthRegistered, HealthAutomatic, HealthMissing:
		s.Health = h
	}
	switch t := Transport(text(keySecurity)); t {
	case Plaintext, TLS:
		s.Security.Transport = t
	}
	return s
}

// serviceName matches the names in health services: full names of services (Protocol Buffers Language Specification,
// fullIdent), and names of an app's own, as in "order-service". No match has a special meaning in a shell.
var serviceName = lazyregexp.New(`^[A-Za-z_][\w./-]{0,127}$`)

// IsServiceName reports whether a text may be the name of a service in a health service.
func IsServiceName(text string) bool { return serviceName.MatchString(text) }

func isNoServiceName(text string) bool { return !IsServiceName(text) }

// indexOf returns the index of a text among the known texts, 0 for an unknown text.
func indexOf(known []string, text string) int {
	for i, k := range known {
		if k == text {
			return i
		}
	}
	return 0
}

// number returns an integer from 1 to greatest, 0 for any other value.
func number(metadata map[string]any, key string, greatest int64) int {
	if n, ok := metadata[key].(int64); ok && n > 0 && n <= greatest {
		return int(n)
	}
	return 0
}
