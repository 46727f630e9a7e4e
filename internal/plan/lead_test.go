package plan_test

import (
	"reflect"
	"testing"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// at returns a server in a file, as the cases change it.
func at(path string, change func(s *plan.Server)) plan.Server {
	s := plan.Server{Evidence: plan.Place{Path: path, Line: 1}, Strength: plan.Construction, Health: plan.HealthMissing}
	if change != nil {
		change(&s)
	}
	return s
}

// Each server leads those below it.
func TestServersAreSortedByWhatIsMostCertain(t *testing.T) {
	t.Parallel()
	const byPath = "first by path (variables of the build and a Procfile say which is built)"
	leads := []struct {
		server plan.Server
		why    string
	}{
		{at("z", func(s *plan.Server) { s.BuiltBy, s.Aside = "$BP_GO_TARGETS", "tools" }), "built by $BP_GO_TARGETS"},
		{at("z", func(s *plan.Server) { s.ShownBy = "README.md" }), "README.md starts it first"},
		{at("x", func(s *plan.Server) {
			s.Health, s.Address = plan.HealthAutomatic, plan.Address{Port: 1, Certainty: plan.Written}
		}), "its address is known"},
		{
			at("w", func(s *plan.Server) { s.Strength, s.Health = plan.Implementation, plan.HealthRegistered }),
			"it has a health service",
		},
		{at("y", func(s *plan.Server) { s.Strength = plan.MainConstruction }), "a main function constructs it"},
		{at("v", func(s *plan.Server) { s.Address.Variable = "PORT" }), "its address is known"},
		{at("a", nil), byPath},
		{at("b", nil), byPath},
		{at("node/b", nil), "the others are in folders named for a language"},
		{
			at("cpp/a", func(s *plan.Server) { s.IsVariant, s.Health = true, plan.HealthRegistered }),
			"its evidence is stronger",
		},
		{
			at("a", func(s *plan.Server) { s.Strength = plan.Registration }),
			"the others are beside the app, in tools or tests",
		},
		{at("a", func(s *plan.Server) { s.Aside = "tools" }), "the others are examples or test servers"},
		{at("a", func(s *plan.Server) { s.Aside, s.IsExample = "examples", true }), "it is in sources"},
		{at("a", func(s *plan.Server) { s.Built, s.Health = true, plan.HealthRegistered }), ""},
	}
	for i := range leads[1:] {
		servers := []plan.Server{leads[i+1].server, leads[i].server}
		plan.Sort(servers)
		if !reflect.DeepEqual(servers[0], leads[i].server) {
			t.Errorf("%d: %s leads, want %s", i, servers[0].Evidence, leads[i].server.Evidence)
		}
		if why := plan.WhyLeads(servers); why != leads[i].why {
			t.Errorf("%d: leads because %q, want %q", i, why, leads[i].why)
		}
	}
}

func TestOneServerLeadsWithoutReason(t *testing.T) {
	t.Parallel()
	if why := plan.WhyLeads([]plan.Server{at("a", nil)}); why != "" {
		t.Errorf("leads because %q", why)
	}
}
