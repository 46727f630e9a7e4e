package analyzer

import (
	"fmt"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// explain logs, for debugging, the findings about the address and the health service of a server, and the reasons for
// an unknown address or health: one line each.
func (p serving) explain(s plan.Server, in *Package, server proof, logf tree.Logf) {
	line := func(format string, args ...any) {
		logf("server at %s: %s", s.Evidence, plan.Printable(fmt.Sprintf(format, args...)))
	}
	listeners := stated[finding.Listener](p, in, server)
	for _, l := range listeners {
		switch a := l.Address; {
		case l.Why != "":
			line("address not known at %s: %s", l.Place, l.Why)
		case a.String() == "":
			line("address not known at %s", l.Place)
		default:
			line("%s at %s", a, l.Place)
		}
	}
	switch {
	case len(listeners) == 0:
		line("no row for an address matches in its file, or in what its project has for it alone")
	case !s.Address.IsKnown() && len(listeners) > 1:
		line("address not known: these differ")
	}
	switch {
	case s.Health == plan.HealthMissing:
		line("no row for grpc.health.v1 matches in its file, or in what its project has for it")
	case s.Health == "" && s.HealthEvidence != (plan.Place{}):
		line("health service not known: whether what stands at %s reaches the server is not written in the source",
			s.HealthEvidence)
	}
}
