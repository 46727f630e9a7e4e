package finding

import (
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// HealthStatus is a status that the app sets in a health service which knows none by itself.
type HealthStatus struct {
	*Site
	// OfServer says that it is one of the whole server, whose name is empty.
	OfServer bool
	// Service is the first other name that is written there, "" for none.
	Service string
	// Serving says that the status is SERVING, and NotServing that it is NOT_SERVING. Neither is known of a variable.
	Serving, NotServing bool
}

var (
	serving    = lazyregexp.New(`(?i)\bserving\b`)
	notServing = lazyregexp.New(`(?i)\bnot_?serving\b`)
	// emptyName is an empty string, or C#'s word for it.
	emptyName = lazyregexp.New(`""|''|` + "``" + `|\b[sS]tring\.Empty\b`)
	// literalName is a string that is a whole argument, or the key of a map.
	literalName = lazyregexp.New(
		`(?:^|[({,]|\bforService:)\s*(?:"([\w.]+)"|'([\w.]+)'|` + "`([\\w.]+)`" + `)\s*(?:=>|[,:)}]|$)`)
)

// SetsHealthStatus is the [Make] of a [HealthStatus] by code that names a service, or several, and the status. It is
// nil for code that names none in a string: what a variable stands for is not known.
func SetsHealthStatus(at *Site, code string) Finding {
	status := HealthStatus{Site: at.Quiet(), OfServer: emptyName.MatchString(code)}
	isOneOfSeveral := false
	for _, m := range literalName.FindAllStringSubmatch(code, -1) {
		name := m[1] + m[2] + m[3]
		switch {
		case serving.MatchString(name) || notServing.MatchString(name): // it is the status
		case status.Service == "":
			status.Service = name
			isOneOfSeveral = status.OfServer
		}
	}
	if !status.OfServer && status.Service == "" {
		return nil
	}
	yes, no := serving.MatchString(code), notServing.MatchString(code)
	status.Serving = yes && !no
	status.NotServing = no && (!yes || isOneOfSeveral) // one that a condition decides is not known
	return status
}

// readiness is in the name of a service whose status says whether a server is ready.
var readiness = lazyregexp.New(`(?i)ready|readiness`)

// ForReadiness returns the name that a readiness probe asks for, of those that a health service knows: that of
// readiness, or the first one; "" of none.
func ForReadiness(names []string) string {
	for _, name := range names {
		if readiness.MatchString(name) {
			return name
		}
	}
	return strings.Join(names[:min(len(names), 1)], "")
}
