package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// HealthHelper is a call that gives a server of a file, by its site, to a function of a module which is named for
// health: it may register grpc.health.v1.
type HealthHelper struct {
	*finding.Site
	Of       *finding.Site
	Module   string // as the source writes it
	Function string // without what stands before it
}

var (
	// NamedForHealth is in the name of such a function or its module, and isServer in that of what it gets.
	NamedForHealth = lazyregexp.New(`(?i)health`)
	isServer       = lazyregexp.New(`(?i)server|grpc`)
)

// GetsServer reports whether an argument of a call is a name that people give a server.
func GetsServer(argument string) bool {
	return isPath.MatchString(argument) && isServer.MatchString(argument)
}

// DecideOwnHelper returns what a helper in a file of the same project says: that the file calls it on a condition, or
// nothing.
func DecideOwnHelper(h HealthHelper) []finding.Finding {
	if !h.IsUnsure() {
		return nil
	}
	return []finding.Finding{finding.HealthCall{Site: h.Site, Function: h.Function, Optional: true}}
}

// DecideHelper returns what a helper in a file registers: the health service that its project has, if that is another
// one than the server's, with its statuses. It is not known of one whose file, "", is not in the app. A project shares
// what its own files register anyway.
func DecideHelper[T any](all []*Project[T], of *Project[T], h HealthHelper, file string) []finding.Finding {
	if file == "" {
		return []finding.Finding{finding.HealthElsewhere{Site: h.Site, Of: h.Of}}
	}
	for _, p := range all {
		if p == of || p.Package(file) == nil {
			continue
		}
		for _, in := range p.Packages {
			health, ok := finding.First[finding.Health](in.Findings)
			if ok && !finding.Has[finding.Server](in.Findings) {
				if health.Of = h.Of; h.IsUnsure() {
					health.Site = h.Site
				}
				found := []finding.Finding{health}
				for status := range finding.All[finding.HealthStatus](in.Findings) {
					found = append(found, status)
				}
				return found
			}
		}
		return []finding.Finding{finding.HealthElsewhere{Site: h.Site, Of: h.Of}}
	}
	return nil
}
