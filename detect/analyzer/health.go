package analyzer

import (
	"regexp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// healthOf returns the registration of grpc.health.v1 for a server of a package. One that is not sure goes before
// others, because what makes the service, or implements it, may stand in the same file; one of another server that is
// not sure may be for this one too.
func healthOf(found []finding.Finding, server *finding.Site) (health finding.Health, ok bool) {
	isOwn := false
	for f := range finding.All[finding.Health](found) {
		own := f.Of == nil || f.Of == server
		if own && (!isOwn || f.Unsure && !health.Unsure) || !ok && f.Unsure {
			health, ok, isOwn = f, true, isOwn || own
		}
	}
	return health, ok
}

// knownTo returns the service that a health service is known to call SERVING, if it needs to be told one: "" is the
// whole server, which any source of the project may set. Of other names only those in the same file are its own for
// sure.
func (p serving) knownTo(health finding.Health) (service string, isUnsure bool) {
	for _, in := range p.packages {
		for f := range finding.All[finding.HealthStatus](in.Findings) {
			if f.OfServer && !f.NotServing {
				return "", false
			}
			if service == "" && f.Path == health.Path && f.Serving && plan.IsServiceName(f.Service) {
				service = f.Service
			}
		}
	}
	return service, service == ""
}

// asksForNothing is a condition that no option decides: whether there is an object.
var asksForNothing = regexp.MustCompile(
	`(?i)^!?[\w.:>()-]*(?:\s*[!=]==?\s*(?:null|nullptr|nil)|\.is(?:Present|Defined)(?:\(\))?)$|` +
		`^Objects\.(?:nonNull|isNull)\(\w+\)$`)

// HealthOnConditions returns findings of a text in which the registrations of grpc.health.v1 are not sure that run on
// a condition which the servers of the text do not run on. It counts neither if it holds as long as nothing is set nor
// if another registration runs if it does not. further returns conditions of another kind, as [address.Names]'
// ConditionsAround does.
func HealthOnConditions(
	names *address.Names, found []finding.Finding, further func(at, outer int) []source.Span,
) []finding.Finding {
	servers := serverOffsets(found)
	var open []address.Condition
	on := map[int][]address.Condition{}
	for i, f := range found {
		if h, ok := f.(finding.Health); ok && finding.Offset(h) > 0 && len(on) < address.MaxListeners {
			on[i] = fewest(servers, func(outer int) []address.Condition {
				return names.Conditions(finding.Offset(h), outer)
			})
			for _, s := range further(finding.Offset(h), servers[0]) {
				on[i] = append(on[i], address.Condition{Span: s})
			}
			open = append(open, on[i]...)
		}
	}
	all := slices.Clone(found)
	for i, conditions := range on {
		h, _ := found[i].(finding.Health) // no others have conditions
		h.Unsure = h.Unsure || slices.ContainsFunc(conditions, func(c address.Condition) bool {
			return !slices.Contains(open, address.Condition{Span: c.Span, Negated: !c.Negated}) && decides(names, c)
		})
		all[i] = h
	}
	return all
}

// serverOffsets returns where servers are made or get their services, 0 for the beginning of the text if nowhere.
func serverOffsets(found []finding.Finding) []int {
	var all []int
	for _, f := range found {
		if finding.Is[finding.Server](f) && finding.Offset(f) > 0 && len(all) < address.MaxListeners {
			all = append(all, finding.Offset(f))
		}
	}
	if len(all) == 0 {
		return []int{0}
	}
	return all
}

// fewest returns the shortest list of conditions around any of several offsets.
func fewest(outer []int, around func(outer int) []address.Condition) []address.Condition {
	var least []address.Condition
	for i, at := range outer {
		if all := around(at); i == 0 || len(all) < len(least) {
			least = all
		}
	}
	return least
}

// decides reports whether a condition may not hold if nothing is set.
func decides(names *address.Names, c address.Condition) bool {
	if asksForNothing.MatchString(names.Slice(c.Span)) {
		return false
	}
	_, value := byDefault(names, c)
	return value != isTrue
}
