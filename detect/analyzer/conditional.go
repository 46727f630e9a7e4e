package analyzer

import (
	"sync"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// MarkConditional returns the findings of a text in which each registration of grpc.health.v1 is not sure that may not
// reach a server, or whose status is left UNKNOWN: a registration under a condition, in the function around, on which
// no server is made or told its address; and one that is made for a name, or by a function, which the text uses on such
// conditions alone. isOther, or nil, finds further types than [finding.Health].
func MarkConditional(t *source.Text, found []finding.Finding, isOther func(finding.Finding) bool) []finding.Finding {
	var c *conditions
	marked := 0
	leavesUnknown := sync.OnceValue(func() bool { return LeavesStatusUnknown(t.Raw) })
	for i, f := range found {
		at := finding.Offset(f)
		isHealth := finding.Is[finding.Health](f) || finding.Is[finding.HealthMade](f) || isOther != nil && isOther(f)
		if !isHealth || at == 0 || marked == maxListeners {
			continue
		}
		marked++
		if c == nil {
			c = &conditions{t, source.FindBlocks(t), serverLines(t, found)}
		}
		if c.decide(t.LogicalLine(at), maxUses) || leavesUnknown() {
			found[i] = finding.AsUnsure(f)
		}
	}
	return found
}

// conditions are those of a text whose servers are on lines.
type conditions struct {
	*source.Text
	blocks  *source.Blocks
	servers []int
}

// maxUses is how many uses in a row are followed: an object that a function makes for a name.
const maxUses = 2

// serverLines returns the logical lines on which servers are made or told their addresses.
func serverLines(t *source.Text, found []finding.Finding) []int {
	var lines []int
	for _, f := range found {
		isServer := finding.Is[finding.Server](f) || finding.Is[finding.Listener](f)
		if at := finding.Offset(f); isServer && at > 0 && len(lines) < maxListeners {
			lines = append(lines, t.LogicalLine(at))
		}
	}
	return lines
}

var (
	// madeFor is a statement that makes an object for a name, or several for two, and does nothing else.
	madeFor = lazyregexp.New(`^[ \t]*(?:(?:const|let|mut|var|val|auto|final|[A-Z][\w.<>]*)[ \t]+)*` +
		`(?:\((?:mut[ \t]+)?(\w+),[ \t]*(?:mut[ \t]+)?)?([a-z_]\w*)\)?[ \t]*(?::[ \t]*[\w.<>]+[ \t]*)?:?=` +
		`[ \t]*(?:await[ \t]+)?(?:new[ \t]+)?[\w.:]+(?:\([^()\n]*\))?[ \t]*;?\s*$`)
	// setsStatus is what follows an object that is told a status, which gives the object to no server.
	setsStatus = lazyregexp.New(`(?i)^\s*(?:\.|->)\s*(?:set|add_?status|clear|enter|shutdown)`)
	// functionName is the name of the function whose head a line is.
	functionName = lazyregexp.New(`^\s*(?:(?:pub|async|export|static|private|public|internal|def|fn|fun|func|` +
		`function|sub|void|self\.)[ \t]*)+(?P<name>[a-z_]\w*)\s*\(`)
)

// decide reports whether conditions decide whether what a line makes reaches a server.
func (c *conditions) decide(line, left int) bool {
	if c.isUnder(line) {
		return true
	}
	if left == 0 {
		return false
	}
	function := c.blocks.Function(c.Text, line)
	if m := madeFor.FindSubmatch(c.LineCode(line)); m != nil {
		isUsed, isSure := c.uses(string(m[2]), line, left)
		if other := string(m[1]); other != "" && other != "_" && !isSure {
			var isOther bool
			isOther, isSure = c.uses(other, line, left)
			isUsed = isUsed || isOther
		}
		return !isSure && (isUsed || function >= 0) // others cannot use the name of a function
	}
	if function < 0 || c.hasServer(function) {
		return false
	}
	m := functionName.FindSubmatch(c.LineCode(function))
	if m == nil {
		return false
	}
	isUsed, isSure := c.uses(string(m[1]), function, left)
	return isUsed && !isSure
}

// uses reports whether a name is used, beside the line that declares the name, and whether that is so on no such
// condition.
func (c *conditions) uses(name string, declared, left int) (isUsed, isSure bool) {
	for at := range c.Words(name) {
		line := c.LogicalLine(at)
		if line == declared || setsStatus.Match(c.Code[at+len(name):]) {
			continue
		}
		if isUsed = true; !c.decide(line, left-1) {
			return true, true
		}
	}
	return isUsed, false
}

// hasServer reports whether a server is in the function whose head is a line.
func (c *conditions) hasServer(function int) bool {
	for _, line := range c.servers {
		if c.blocks.Function(c.Text, line) == function {
			return true
		}
	}
	return false
}

// isOnByDefault is the negation of an option that turns something off: !*noHealth, not args.disable_health.
var isOnByDefault = lazyregexp.New(
	`^(?:!\s*|not\s+)[*&\w.$@>-]*?(?:\b|_|[*.])(?:[nN]o(?:_|[A-Z])|[dD]isable|[wW]ithout|[sS]kip)\w*(?:\(\))?$`)

// isUnder reports whether a line is in a branch, of the function around the line, that no server is in.
func (c *conditions) isUnder(line int) bool {
	for _, head := range c.blocks.Conditions(c.Text, line) {
		isShared := false
		for _, server := range c.servers {
			isShared = isShared || c.blocks.IsUnder(head, server)
		}
		condition := source.Condition(c.LineCode(head))
		if !isShared && !asksForNothing.Match(condition) && !isOnByDefault.Match(condition) {
			return true
		}
	}
	return false
}
