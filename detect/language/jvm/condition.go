package jvm

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// conditionalBean makes an object in some configurations only: of Spring, Micronaut and Quarkus.
	conditionalBean = lazyregexp.New(`@(?:ConditionalOn(?:Property|BooleanProperty|Expression)|Profile|` +
		`IfBuildProfile|IfBuildProperty|LookupIfProperty|Requires)\s*\((?P<arguments>[^()]*)\)`)
	// ifMissing says that the object is there if nothing is set, and requiresOther asks for no setting.
	ifMissing = lazyregexp.New(
		`\b(?:matchIfMissing|enableIfMissing|lookupIfMissing)\s*=\s*true\b|\bdefaultValue\b`)
	requiresOther = lazyregexp.New(`^\s*(?:beans|classes|missing\w*|notEnv|sdk)\s*=`)
)

// markHealth is [analyzer.MarkHealth], which marks the registrations in a source too that makes an object only if
// something is set.
func markHealth(n *names, found []finding.Finding) []finding.Finding {
	isOther := func(f finding.Finding) bool {
		return finding.Is[healthImplemented](f) || finding.Is[healthNamed](f) || finding.Is[healthHelper](f)
	}
	found = analyzer.MarkHealth(n.text, n.values, found, isOther, nil)
	isHealth := func(f finding.Finding) bool {
		return finding.Is[finding.Health](f) || finding.Is[finding.HealthMade](f) || isOther(f)
	}
	if !slices.ContainsFunc(found, isHealth) || finding.Has[finding.Server](found) || !n.isConditionalBean() {
		return found
	}
	for i, f := range found {
		if isHealth(f) {
			found[i] = finding.AsUnsure(f)
		}
	}
	return found
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
