package plan

import (
	"cmp"
	"slices"
)

// criteria decide which of two servers leads, the most important criterion first.
var criteria = []struct {
	// ranks is less for the leading server.
	ranks func(s Server) int
	why   func(s Server) string
}{
	{func(s Server) int { return rank(s.Built) }, says("it is in sources")},
	{func(s Server) int { return rank(s.BuiltBy == "") }, func(s Server) string { return "built by " + s.BuiltBy }},
	{func(s Server) int { return rank(s.IsExample) }, says("the others are examples or test servers")},
	{func(s Server) int { return rank(s.Aside != "") }, says("the others are beside the app, in tools or tests")},
	{func(s Server) int { return rank(s.Strength == Registration) }, says("its evidence is stronger")},
	{func(s Server) int { return rank(s.IsVariant) }, says("the others are in folders named for a language")},
	{func(s Server) int { return rank(s.ShownBy == "") }, Server.whyShown},
	{func(s Server) int { return rank(!s.HasHealth()) }, says("it has a health service")},
	{func(s Server) int { return rank(s.Strength != MainConstruction) }, says("a main function constructs it")},
	{func(s Server) int { return rank(!s.Address.IsKnown()) }, says("its address is known")},
}

func says(why string) func(Server) string { return func(Server) string { return why } }

func (s Server) whyShown() string { return s.ShownBy + " starts it first" }

func rank(against bool) int {
	if against {
		return 1
	}
	return 0
}

// Sort puts the leading server first. The criteria, in this order, prefer: sources to built programs; servers that the
// build is said to build; the app proper to tools and tests, and tools and tests to examples; constructed servers, or
// servers of a framework, to mere registrations; folders not named for a language; servers that a document starts
// first; servers with a health service; servers that a main function constructs; servers with a known address.
// Otherwise the order is by path and line.
func Sort(servers []Server) {
	slices.SortStableFunc(servers, func(a, b Server) int {
		for _, c := range criteria {
			if order := cmp.Compare(c.ranks(a), c.ranks(b)); order != 0 {
				return order
			}
		}
		return cmp.Or(cmp.Compare(a.Evidence.Path, b.Evidence.Path), cmp.Compare(a.Evidence.Line, b.Evidence.Line))
	})
}

// WhyLeads says in a few words why the first of the sorted servers leads; "" for fewer than two servers.
func WhyLeads(sorted []Server) string {
	if len(sorted) < 2 {
		return ""
	}
	for _, c := range criteria {
		if c.ranks(sorted[0]) != c.ranks(sorted[1]) {
			return c.why(sorted[0])
		}
	}
	return "first by path (variables of the build and a Procfile say which is built)"
}

// HasHealth reports whether somebody registers the health service.
func (s Server) HasHealth() bool { return s.Health == HealthRegistered || s.Health == HealthAutomatic }

// CompareBool compares like cmp.Compare, and puts false before true.
func CompareBool(a, b bool) int { return cmp.Compare(rank(a), rank(b)) }
