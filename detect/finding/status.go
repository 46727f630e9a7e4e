package finding

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// HealthStatus is a status that the app sets in a health service.
type HealthStatus struct {
	*Site
	// OfServer says that it is one of the whole server, whose name is empty.
	OfServer bool
	// Services are the other names that are written there.
	Services []string
	// Named is the code that names the service if no name is written there, "" for none.
	Named string
	// NotServing says that the status is NOT_SERVING. That is not known of a variable.
	NotServing bool
}

var (
	// status is SERVING or NOT_SERVING, as code or as text.
	status     = lazyregexp.New(`(?i)\b(?:not_?)?serving\b`)
	serving    = lazyregexp.New(`(?i)\bserving\b`)
	notServing = lazyregexp.New(`(?i)\bnot_?serving\b`)
	// emptyName is an empty string, or the word for it of a language or of a library.
	emptyName = lazyregexp.New(`""|''|` + "``" + `|\b[sS]tring\.Empty\b|\bOVERALL_HEALTH\b|` +
		`\bSERVICE_NAME_ALL_SERVICES\b|\bOVERALL_SERVICE_NAME\b|\bDEFAULT_SERVICE_NAME\b`)
	// literalName is a string that is a whole argument, or the key of a map.
	literalName = lazyregexp.New(`(?:^|[({,]|\bforService:)\s*(?:service\s*=\s*)?` +
		`(?:"([\w./-]+)"|'([\w./-]+)'|` + "`([\\w./-]+)`" + `)\s*(?:=>|[,:)}]|$)`)
	// innerCall is a call within another one, whose arguments name no service.
	innerCall = lazyregexp.New(`\w\s*\((?:[^()]|\([^()]*\))*\)`)
	// firstArgument is the argument that names a service, if no string does.
	firstArgument = lazyregexp.New(`^\(?\s*(?:\.\w+\s*,\s*forService:|service\s*=)?\s*((?:[^(),"']|"[^"]*"|'[^']*'|` +
		`\((?:[^()]|\([^()]*\))*\))+?)\s*(?:,|\)?$)`)
)

// brackets leaves out the spaces that only lay code out.
var brackets = strings.NewReplacer("( ", "(", " )", ")", " ,", ",", "[ ", "[", " ]", "]", " (", "(")

// SetsHealthStatus is the [Make] of a [HealthStatus] by code that names a service, or several, and the status: the
// arguments of a call, or a part of a map. NOT_SERVING alone, as an app sets it when it begins and ends, tells of no
// service that a probe may ask for.
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
	s.NotServing = no && isOneOfSeveral // one that a condition decides is not known
	return s
}

// With returns the status as that of services by their names, if there are any. NOT_SERVING alone tells of none.
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

// Probes are the services that probes ask a health service for.
type Probes struct {
	// Readiness are those of a readiness probe: the one that is named for it, or all but that of liveness.
	Readiness []string
	// Liveness is that of a liveness probe, "" for none.
	Liveness string
}

// MaxServices is how many services a probe asks for: most apps have one or two.
const MaxServices = 8

var (
	forReadiness = lazyregexp.New(`(?i)ready|readiness`)
	forLiveness  = lazyregexp.New(`(?i)\b(?:live|alive|liveness)(?:_?probe)?$`)
)

// ProbesOf returns what probes ask for of the services that a health service knows.
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

// Service returns the services of a readiness probe as -service takes them.
func (p Probes) Service() string { return strings.Join(p.Readiness, ",") }
