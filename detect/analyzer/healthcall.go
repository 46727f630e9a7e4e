package analyzer

import (
	"maps"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// callForHealth is a call of a function that is named for health, or whose class or module is. Ruby needs no brackets.
var callForHealth = lazyregexp.New(`\b(?:(?P<name>\w*[hH]ealth\w*)|(?P<class>\w*[hH]ealth\w*)(?:\??\.|::|->)` +
	`(?P<method>\w+))(?:[ \t]*\(|[ \t]+(?P<bare>[a-z_@]))`)

// maxHealthCalls is how many such calls of a text are looked at.
const maxHealthCalls = 64

// callsForHealth returns the functions named for health that a text calls, each with the conditions of its calls, by
// their offsets. around returns the conditions around an offset, and needsNoBrackets says of the language whether a
// call needs none.
func callsForHealth(
	t *source.Text, around func(at int) []address.Condition, needsNoBrackets func() bool,
) map[string]map[int][]address.Condition {
	calls := map[string]map[int][]address.Condition{}
	for _, m := range t.FindAll(callForHealth, maxHealthCalls) {
		name, _ := t.Group(callForHealth, m, "name")
		if method, ok := t.Group(callForHealth, m, "method"); ok {
			class, _ := t.Group(callForHealth, m, "class")
			name = address.FunctionName(method, class)
		}
		if _, isBare := t.Group(callForHealth, m, "bare"); isBare && !needsNoBrackets() {
			continue
		}
		if calls[name] == nil {
			calls[name] = map[int][]address.Condition{}
		}
		calls[name][m[0]] = around(m[0])
	}
	return calls
}

// healthCalls returns the findings of such calls. They are optional if they run on conditions alone that may not hold.
func healthCalls(
	t *source.Text, calls map[string]map[int][]address.Condition, mayFail func(c address.Condition) bool,
) []finding.Finding {
	var found []finding.Finding
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		isOptional := len(undecided(calls[name], mayFail)) == len(calls[name])
		site := finding.AtLine(t.Line(slices.Min(slices.Collect(maps.Keys(calls[name])))), "")
		found = append(found, finding.HealthCall{Site: site, Function: name, Optional: isOptional})
	}
	return found
}

// decideHealthCalls marks the registrations of grpc.health.v1 as not sure that are in a function which another file
// calls on a condition: of the files that call it, one of those in the innermost folder around. That call is the place
// to name then.
func decideHealthCalls[T any](p *Project[T]) {
	functions, calls := map[plan.Place]string{}, map[string][]finding.HealthCall{}
	for f := range p.All() {
		switch f := f.(type) {
		case finding.HealthFunction:
			functions[f.Place] = f.Function
		case finding.HealthCall:
			calls[f.Function] = append(calls[f.Function], f)
		}
	}
	p.Decide(func(_ *Package, f finding.Finding) []finding.Finding {
		if health, ok := f.(finding.Health); ok {
			if call, ok := optionalCall(calls[functions[health.Place]], health.Path); ok {
				health.Site = call.AsUnsure()
				f = health
			}
		}
		return []finding.Finding{f}
	})
}

// optionalCall returns one of the calls in the innermost folder around a file, other than in the file itself, that is
// made on a condition.
func optionalCall(calls []finding.HealthCall, file string) (finding.HealthCall, bool) {
	for dir := range tree.Ancestors(file) {
		inside := slices.DeleteFunc(slices.Clone(calls), func(c finding.HealthCall) bool {
			return c.Path == file || !tree.IsWithin(c.Path, dir)
		})
		if len(inside) == 0 {
			continue
		}
		if i := slices.IndexFunc(inside, func(c finding.HealthCall) bool { return c.Optional }); i >= 0 {
			return inside[i], true
		}
		break
	}
	return finding.HealthCall{}, false
}
