package jvm

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// conditionalBean makes an object in some configurations only: of Spring, Micronaut and Quarkus.
	conditionalBean = regexp.MustCompile(`@(?:ConditionalOn(?:Property|BooleanProperty|Expression)|Profile|` +
		`IfBuildProfile|IfBuildProperty|LookupIfProperty|Requires)\s*\((?P<arguments>[^()]*)\)`)
	// ifMissing says that the object is there if nothing is set, and requiresOther asks for no setting.
	ifMissing = regexp.MustCompile(
		`\b(?:matchIfMissing|enableIfMissing|lookupIfMissing)\s*=\s*true\b|\bdefaultValue\b`)
	requiresOther = regexp.MustCompile(`^\s*(?:beans|classes|missing\w*|notEnv|sdk)\s*=`)
)

// healthOnConditions returns the findings of a source, of which those that register grpc.health.v1 are not sure that
// depend on a setting.
func healthOnConditions(n *names, found []finding.Finding) []finding.Finding {
	given := map[int]healthGiven{}
	all := make([]finding.Finding, len(found))
	registers := false
	for i, f := range found {
		if of, ok := f.(healthGiven); ok {
			given[i], f = of, finding.Health{Site: of.Site, Of: of.of}
		}
		all[i] = f
		registers = registers || finding.Is[finding.Health](f)
	}
	if !registers {
		return found
	}
	all = analyzer.HealthOnConditions(n.values(), all, n.conditionsOfCalls)
	isConditional := !finding.Has[finding.Server](found) && n.isConditionalBean()
	for i, f := range all {
		h, ok := f.(finding.Health)
		if !ok {
			continue
		}
		h.Unsure = h.Unsure || isConditional
		all[i] = h
		if of, ok := given[i]; ok {
			of.unsure = h.Unsure
			all[i] = of
		}
	}
	return all
}

// isConditionalBean reports whether a source makes an object only if something is set.
func (n *names) isConditionalBean() bool {
	for _, m := range n.text.FindAll(conditionalBean, maxMembers) {
		arguments := n.text.Slice(source.Span{From: m[2], To: m[3]})
		if !ifMissing.MatchString(arguments) && !requiresOther.MatchString(arguments) {
			return true
		}
	}
	return false
}
