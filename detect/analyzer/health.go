package analyzer

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// healthOf returns the registration of grpc.health.v1 for a server of a package. One that is not sure goes before
// others, because what makes the service, or implements it, may stand in the same file; one of another server that is
// not sure may be for this one too.
func healthOf(found []finding.Finding, server *finding.Site) (health finding.Health, ok bool) {
	isOwn := false
	for f := range finding.All[finding.Health](found) {
		own := f.Of == nil || f.Of == server
		if own && (!isOwn || f.IsUnsure() && !health.IsUnsure()) || !ok && f.IsUnsure() {
			health, ok, isOwn = f, true, isOwn || own
		}
	}
	return health, ok
}

// asksForNothing is a condition that no option decides: whether there is an object or an error, a package is
// installed, or a file is run as a program.
var asksForNothing = lazyregexp.New(
	`(?i)^!?[$\w.:>()?-]*(?:\s*[!=]==?\s*(?:null|nullptr|nil|undefined)|\s+is(?:\s+not)?\s+(?:None|Nothing|null)|` +
		`\.(?:is(?:Present|Defined|_some|_none|_ok|_err)(?:\(\))?|nil\?))$|` +
		`^let\s+(?:mut\s+)?(?:Some|None|Ok|Err|\w+\s*=)|^let\s+\w+$|^!?(?:err|error|e)$|` +
		`^Objects\.(?:nonNull|isNull)\(\w+\)$|^!?\s*(?:class_exists|defined\?|isset|Code\.ensure_loaded\?)\s*\(|` +
		`^__name__\s*==|^__FILE__\s*==|^require\.main\b|^import\.meta\b`)

// MarkHealth marks the registrations of grpc.health.v1 among the findings of a text as not sure that are made for
// nothing, or for variables that are used on a condition alone ([usesOf]), or with a status that is left UNKNOWN, or
// that run on a condition which the servers of the text do not run on, or after the function may be left on one. A
// condition counts neither if it holds as long as nothing is set nor if another registration runs if it does not. It
// returns the findings with what other files need to know: the functions of registrations, and those named for health
// that the text calls. isOther, or nil, finds further ones than [finding.Health], and further, or nil, returns
// conditions of another kind, as [address.Names]' ConditionsAround does.
func MarkHealth(
	t *source.Text, names func() *address.Names, found []finding.Finding, isOther func(finding.Finding) bool,
	further func(at, outer int) []source.Span,
) []finding.Finding {
	isHealth := func(f finding.Finding) bool {
		return finding.Is[finding.Health](f) || finding.Is[finding.HealthMade](f) || isOther != nil && isOther(f)
	}
	names = sync.OnceValue(names)
	servers := sync.OnceValue(func() []int { return serverOffsets(t, found, isHealth) })
	around := conditionsAround(names, servers, listenerOffsets(found), further)
	mayFail := func(c address.Condition) bool { return decides(names(), c) }
	// decided returns the uses that options decide, of what is made at an offset for variables; ok says that all are.
	decided := func(at int) (uses []int, ok bool) {
		all, ok := usesOf(names(), at)
		on := map[int][]address.Condition{}
		for _, use := range all[:min(len(all), address.MaxListeners)] {
			on[use] = around(use)
		}
		uses = undecided(on, mayFail)
		return uses, ok && len(uses) == len(on)
	}
	leavesUnknown := sync.OnceValue(func() bool { return LeavesStatusUnknown(t.Raw) })
	on := map[int][]address.Condition{}
	var functions []finding.Finding
	for i, f := range found {
		at := finding.Offset(f)
		if !isHealth(f) || at == 0 || len(on) >= address.MaxListeners {
			continue
		}
		switch uses, ok := decided(at); {
		case ok && len(uses) > 0:
			use := slices.Min(uses)
			site := finding.At(t, source.Span{From: use, To: use}).Quiet()
			found[i] = finding.AsUnsureAt(f, site)
		case ok, leavesUnknown():
			found[i] = finding.AsUnsure(f)
		default:
			on[i] = around(at)
			if name := names().FunctionOf(at); name != "" {
				site := finding.AtLine(finding.Where(f).Line, "")
				functions = append(functions, finding.HealthFunction{Site: site, Function: name})
			}
		}
	}
	for _, i := range undecided(on, mayFail) {
		found[i] = finding.AsUnsure(found[i])
	}
	calls := callsForHealth(t, around, func() bool { return names().Modifier != nil })
	return slices.Concat(found, healthCalls(t, calls, mayFail), functions)
}

// conditionsAround returns a function that returns the conditions on which code at an offset runs and the servers do
// not, further ones among them, or after which the function may be left before listeners and servers.
func conditionsAround(
	names func() *address.Names, servers func() []int, listeners []int, further func(at, outer int) []source.Span,
) func(at int) []address.Condition {
	return func(at int) []address.Condition {
		first := servers()[0]
		all := fewest(servers(), func(outer int) []address.Condition { return names().Conditions(at, outer) })
		if first > 0 || !names().InMain(at) { // in main, the server of another file is not made either
			all = append(all, names().Left(at, slices.Concat(listeners, servers())...)...)
		}
		called := fewest(servers(), func(outer int) []source.Span { return names().ConditionsOfFunction(at, outer) })
		if further != nil {
			called = append(called, further(at, first)...)
		}
		for _, s := range called {
			all = append(all, address.Condition{Span: s})
		}
		return all
	}
}

// undecided returns what runs on a condition that may not hold, by a function, unless another one runs then.
func undecided(on map[int][]address.Condition, mayFail func(c address.Condition) bool) []int {
	open := slices.Concat(slices.Collect(maps.Values(on))...)
	var all []int
	for i, conditions := range on {
		if slices.ContainsFunc(conditions, func(c address.Condition) bool {
			return !slices.Contains(open, address.Condition{Span: c.Span, Negated: !c.Negated}) && mayFail(c)
		}) {
			all = append(all, i)
		}
	}
	return all
}

// listenerOffsets returns where servers are told their addresses.
func listenerOffsets(found []finding.Finding) []int {
	var all []int
	for l := range finding.All[finding.Listener](found) {
		if at := finding.Offset(l); at > 0 && len(all) < address.MaxListeners {
			all = append(all, at)
		}
	}
	return all
}

// serverOffsets returns where servers are made or, in a text that makes none, what else there is of one, such as its
// services; 0 for the beginning of the text if nothing is.
func serverOffsets(t *source.Text, found []finding.Finding, isHealth func(finding.Finding) bool) []int {
	var servers, others []int
	lines, calls := map[int]bool{}, map[int]bool{} // those with the health service
	for _, f := range found {
		if isHealth(f) {
			lines[finding.Where(f).Line] = true
			calls[callBefore(t, found, finding.Offset(f))] = true
		}
	}
	for _, f := range found {
		switch at := finding.Offset(f); {
		case at == 0, len(servers)+len(others) >= address.MaxListeners:
		case finding.Is[finding.Server](f):
			servers = append(servers, at)
		case finding.Is[finding.HealthStatus](f) || lines[finding.Where(f).Line] || calls[at]:
		default:
			others = append(others, at)
		}
	}
	switch {
	case len(servers) > 0:
		return servers
	case len(others) > 0:
		return others
	}
	return []int{0}
}

// callBefore returns the offset of the last registration before an offset in the same logical line, 0 for none.
func callBefore(t *source.Text, found []finding.Finding, at int) int {
	last := -1
	for r := range finding.All[finding.Registration](found) {
		if of := finding.Offset(r); of > last && of <= at && t.LogicalLine(of) == t.LogicalLine(at) {
			last = of
		}
	}
	return max(last, 0)
}

// fewest returns the shortest list of conditions around any of several offsets.
func fewest[C any](outer []int, around func(outer int) []C) []C {
	var least []C
	for i, at := range outer {
		if all := around(at); i == 0 || len(all) < len(least) {
			least = all
		}
	}
	return least
}

// decides reports whether a condition may not hold if nothing is set.
func decides(names *address.Names, c address.Condition) bool {
	if names.Holds != nil && names.Holds(c) {
		return false
	}
	setting, value := byDefault(names, c)
	condition := names.Slice(c.Span)
	isSetting := strings.HasPrefix(setting, "$") || optionRoot.MatchString(condition)
	if !isSetting && (asksForNothing.MatchString(condition) || isInstalled(names, condition)) {
		return false
	}
	return value != isTrue && (c.Negated || !holdsUnset.MatchString(condition) && !isSetTrue(names, condition))
}

// holdsUnset is a condition that holds if nothing is set.
var holdsUnset = lazyregexp.New(`(?i)^[$\w.?]+\s*(?:!==?|is\s+not)\s*false$|^[$\w.?]+\s*\?\?\s*true$|` +
	`^[$\w.<>]+\s*\(\s*["'][^"']*["']\s*,\s*(?:default\s*=\s*)?true\s*\)$`)

// isSetTrue reports whether a condition is a name that is declared as true, as a parameter may be by default, and that
// a source sets to nothing else.
func isSetTrue(names *address.Names, condition string) bool {
	if !isPath.MatchString(condition) {
		return false
	}
	name := condition[strings.LastIndexByte(condition, '.')+1:]
	isDeclared := false
	for at := range names.Words(name) {
		end := at + len(name)
		m := assigned.FindSubmatch(names.Code[end:min(len(names.Code), end+maxAssigned)])
		switch {
		case m == nil:
			continue
		case !strings.EqualFold(string(m[2]), "true"):
			return false
		}
		line := names.Code[bytes.LastIndexByte(names.Code[:at], '\n')+1 : at]
		isDeclared = isDeclared || len(m[1]) > 0 || declaring.Match(line)
	}
	return isDeclared
}

// maxAssigned is how many bytes are between a name and the end of what it is set to, if that is a word.
const maxAssigned = 100

var (
	// assigned is what follows a name that is set: its type, if it has one, and the first word of the value.
	assigned = lazyregexp.New(`^(\s*:\s*\w+)?\s*=\s*(\w+|[^=\s])`)
	// declaring is what stands before a name on the line that declares it.
	declaring = lazyregexp.New(
		`(?i)\b(?:let|const|var|val|bool|boolean)[ \t]+$|\b(?:def|function)\b[^\n]*[(,][ \t]*$`)
)

var (
	// isName is a condition that is a name, isPath one with attributes, and failed what a source does if a package is
	// not installed.
	isName = lazyregexp.New(`^[A-Za-z_]\w*$`)
	isPath = lazyregexp.New(`^(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*$`)
	failed = lazyregexp.New(`(?m)^[ \t}]*(?:except|rescue|catch)\b[^\n]*\n(?:[^\n]*\n){0,3}?` +
		`[ \t]*(?P<name>\w+)\s*=\s*(?:False|false|None|null|nil)\b`)
)

// isInstalled reports whether a condition is a name that says whether a package is installed: HAS_HEALTH = False after
// except ImportError.
func isInstalled(names *address.Names, condition string) bool {
	if !isName.MatchString(condition) {
		return false
	}
	return slices.ContainsFunc(names.FindAll(failed, address.MaxListeners), func(m []int) bool {
		return names.Slice(source.Span{From: m[2], To: m[3]}) == condition
	})
}
