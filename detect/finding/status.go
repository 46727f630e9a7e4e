package finding

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// HealthStatus is a status that the app sets in a health service.
type HealthStatus struct {
	*Site
	// OfServer means a status of the whole server, whose name is empty.
	OfServer bool
	// Services are the other names in the code.
	Services []string
	// Named is the code that names the service in place of a written name, "" for none.
	Named string
	// NotServing means that the status is NOT_SERVING. The status of a variable is unknown.
	NotServing bool
}

var (
	// status is SERVING or NOT_SERVING, as code or as text.
	status     = lazyregexp.New(`(?i)\b(?:not_?)?serving\b`)
	serving    = lazyregexp.New(`(?i)\bserving\b`)
	notServing = lazyregexp.New(`(?i)\bnot_?serving\b`)
	// emptyName is an empty string, or the word for the empty name in a language or a library.
	emptyName = lazyregexp.New(`""|''|` + "``" + `|\b[sS]tring\.Empty\b|\bOVERALL_HEALTH\b|` +
		`\bSERVICE_NAME_ALL_SERVICES\b|\bOVERALL_SERVICE_NAME\b|\bDEFAULT_SERVICE_NAME\b`)
	// literalName is a string that is a whole argument, or the key of a map.
	literalName = lazyregexp.New(`(?:^|[({,]|\bforService:)\s*(?:service\s*=\s*)?` +
		`(?:"([\w./-]+)"|'([\w./-]+)'|` + "`([\\w./-]+)`" + `)\s*(?:=>|[,:)}]|$)`)
	// innerCall is a call within another call. Its arguments name no service.
	innerCall = lazyregexp.New(`\w\s*\((?:[^()]|\([^()]*\))*\)`)
	// firstArgument is the argument that names a service if no string does.
	firstArgument = lazyregexp.New(`^\(?\s*(?:\.\w+\s*,\s*forService:|service\s*=)?\s*((?:[^(),"']|"[^"]*"|'[^']*'|` +
		`\((?:[^()]|\([^()]*\))*\))+?)\s*(?:,|\)?$)`)
)

// brackets removes spaces of code layout.
var brackets = strings.NewReplacer("( ", "(", " )", ")", " ,", ",", "[ ", "[", " ]", "]", " (", "(")

// SetsHealthStatus is the [Make] of a [HealthStatus] by code with the names of services and the status: the arguments
// of a call, or a part of a map. NOT_SERVING alone, as an app sets it at the beginning and the end, names no service
// for a probe.
func SetsHealthStatus(at *Site, code string) Finding {
	yes, no := serving.MatchString(code), notServing.MatchString(code)
	names := innerCall.ReplaceAllString(code, "()")
	s := HealthStatus{Site: at.Quiet(), OfServer: emptyName.MatchString(names)}
	if no && !yes {
		if s.NotServing = true; !s.OfServer {
			return nil
		}
		return s
	}
	isOneOfSeveral := false
	for _, m := range literalName.FindAllStringSubmatch(names, -1) {
		if name := m[1] + m[2] + m[3]; !status.MatchString(name) {
			s.Services = append(s.Services, name)
			isOneOfSeveral = s.OfServer
		}
	}
	if !s.OfServer && s.Services == nil {
		m := firstArgument.FindStringSubmatch(code)
		if m == nil || m[1] == "" || status.MatchString(m[1]) {
			return nil
		}
		s.Named = brackets.Replace(strings.Join(strings.Fields(m[1]), " "))
	}
	s.NotServing = no && isOneOfSeveral // a status that a condition decides is unknown
	return s
}

// With returns the status as the status of services by name, if there are any names. NOT_SERVING alone adds no service.
func (s HealthStatus) With(names ...string) HealthStatus {
	if len(names) > 0 || s.NotServing {
		s.Named = ""
	}
	for _, name := range names {
		if s.OfServer = s.OfServer || name == ""; name != "" && !s.NotServing {
			s.Services = append(s.Services, name)
		}
	}
	return s
}

// Probes are the services in the requests of probes to a health service.
type Probes struct {
	// Readiness are the services of a readiness probe: the service named for readiness, or all except the liveness
	// service.
	Readiness []string
	// Liveness is the service of a liveness probe, "" for none.
	Liveness string
}

// MaxServices is how many services a probe asks for: most apps have one or two.
const MaxServices = 8

var (
	forReadiness = lazyregexp.New(`(?i)ready|readiness`)
	forLiveness  = lazyregexp.New(`(?i)\b(?:live|alive|liveness)(?:_?probe)?$`)
)

// ProbesOf returns the probes for the services of a health service.
func ProbesOf(services []string) Probes {
	var p Probes
	for _, name := range services {
		switch {
		case forLiveness.MatchString(name):
			p.Liveness = name
		case forReadiness.MatchString(name):
			p.Readiness = slices.Insert(p.Readiness, 0, name)
		case !slices.Contains(p.Readiness, name) && len(p.Readiness) < MaxServices:
			p.Readiness = append(p.Readiness, name)
		}
	}
	switch {
	case len(p.Readiness) == 0 && p.Liveness != "":
		p.Readiness = []string{p.Liveness}
	case len(p.Readiness) > 0 && forReadiness.MatchString(p.Readiness[0]):
		p.Readiness = p.Readiness[:1]
	}
	return p
}

// Service returns the services of a readiness probe in the form of -service.
func (p Probes) Service() string { return strings.Join(p.Readiness, ",") }
