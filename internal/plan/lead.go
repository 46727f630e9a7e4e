package plan

import (
	"cmp"
	"slices"
)

// criteria say which of two servers leads, the most important one first: what is compared, and the words for it.
var criteria = []struct {
	// ranks is less for the server that leads.
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

// rank returns 1 for what speaks against a server.
func rank(against bool) int {
	if against {
		return 1
	}
	return 0
}

// Sort puts the leading server first: servers in sources before those in built programs, what the build is said to
// build before the rest, the app proper before tools and tests and these before examples, servers that are constructed,
// or that a framework makes, before those of which only a registration is found, folders that are named for no language
// before others, those that a document starts first, those with a health service, those that a main function constructs
// and then those with a known address before others, and otherwise by path and line.
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

// WhyLeads says in a few words why the first of sorted servers leads; "" if there is no second.
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

// CompareBool compares as cmp.Compare does, and puts false before true.
func CompareBool(a, b bool) int { return cmp.Compare(rank(a), rank(b)) }
