package analyzer

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// environmentVariable is the name of a variable with the environment that an app runs in, such as NODE_ENV. Some
	// buildpacks set it in images, to production.
	environmentVariable = lazyregexp.New(`(?:^\$?|_)ENV(?:IRONMENT)?$`)
	// environmentName is a term that is named for an environment, and environmentCompared one that compares its name.
	environmentName = lazyregexp.New(
		`(?i)^!?\s*(?:[\w$]+\.)*(?:i[sn]_?)?(?:prod(?:uction)?|dev(?:elopment)?)(?:_?mode)?(?:\(\))?$`)
	environmentCompared = lazyregexp.New(`(?i)^(?:[\w$]+\.)+(?:\w+_?)?env(?:ironment)?\s*[!=]=`)
)

// MarkListeners marks the listeners among the findings of a text as not sure which a server has in some environments
// alone, such as development. Where both branches of a condition have one, it has one anyway.
func MarkListeners(names func() *address.Names, found []finding.Finding, isListener func(finding.Finding) bool) {
	on := map[int][]address.Condition{}
	for i, f := range found {
		if at := finding.Offset(f); at > 0 && isListener(f) && len(on) < address.MaxListeners {
			on[i] = names().Conditions(at, 0)
			for _, s := range names().ConditionsOfFunction(at, 0) {
				on[i] = append(on[i], address.Condition{Span: s})
			}
		}
	}
	for _, i := range undecided(on, func(c address.Condition) bool { return mayFailInImages(names(), c) }) {
		found[i] = finding.AsUnsure(found[i])
	}
}

// mayFailInImages reports whether a condition asks for the environment that the app runs in, and may not hold in that
// of images.
func mayFailInImages(names *address.Names, c address.Condition) bool {
	asks, all := false, isTrue
	for _, term := range andWord.Split(string(names.Raw[c.From:c.To]), -1) {
		term = strings.TrimSpace(term)
		switch setting, value := termByDefault(names, term, c.From); {
		case environmentCompared.MatchString(term):
			asks, all = true, all.and(ifUnset("ENV", term, term))
		case environmentVariable.MatchString(setting), environmentName.MatchString(term):
			asks, all = true, all.and(value)
		}
	}
	return asks && all.not(c.Negated) != isTrue
}
