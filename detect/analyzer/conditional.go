package analyzer

import (
	"bytes"
	"slices"
	"sync"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// MarkConditional returns the findings of a text, and marks a registration of grpc.health.v1 as unsure if the
// registration may not reach a server or leaves the status UNKNOWN. A registration may not reach a server under a
// condition in its function, unless a server is made or gets an address under the same condition. The same holds for a
// registration made for a name, or by a function, if the text has only such conditional uses. isOther, or nil, finds
// further types than [finding.Health]. A status under such a condition is unsure too.
func MarkConditional(t *source.Text, found []finding.Finding, isOther func(finding.Finding) bool) []finding.Finding {
	var c *conditions
	marked := map[bool]int{} // by whether they are statuses
	leavesUnknown := sync.OnceValue(func() bool { return LeavesStatusUnknown(t.Raw) })
	for i, f := range found {
		at := finding.Offset(f)
		isHealth := finding.Is[finding.Health](f) || finding.Is[finding.HealthMade](f) || isOther != nil && isOther(f)
		status, isStatus := f.(finding.HealthStatus)
		if !isHealth && !isStatus || at == 0 || marked[isStatus] == maxListeners {
			continue
		}
		marked[isStatus]++
		if isStatus && !namesOnce(t, status) {
			continue
		}
		if c == nil {
			c = &conditions{t, source.FindBlocks(t), serverLines(t, found)}
		}
		line := t.LogicalLine(at)
		if isStatus && c.isUnder(line) || isHealth && (c.decide(line, maxUses) || leavesUnknown()) {
			found[i] = finding.AsUnsure(f)
		}
	}
	return found
}

// namesOnce reports whether the code of a status holds the only mention of a service. A service with a second mention
// may get a status without the condition.
func namesOnce(t *source.Text, s finding.HealthStatus) bool {
	at := finding.Offset(s)
	after := t.Raw[at:min(len(t.Raw), at+maxStatement)]
	return slices.ContainsFunc(s.Services, func(name string) bool {
		return bytes.Count(t.Raw, []byte(name)) == 1 && bytes.Contains(after, []byte(name))
	})
}

// conditions are the conditions of a text, with the lines of its servers.
type conditions struct {
	*source.Text
	blocks  *source.Blocks
	servers []int
}

// maxUses bounds the uses in a row that are followed: an object that a function makes for a name.
const maxUses = 2

// serverLines returns the logical lines on which servers are made or get addresses.
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
	// madeFor matches a statement that only makes an object for a name, or objects for two names.
	madeFor = lazyregexp.New(`^[ \t]*(?:(?:const|let|mut|var|val|auto|final|[A-Z][\w.<>]*)[ \t]+)*` +
		`(?:\((?:mut[ \t]+)?(\w+),[ \t]*(?:mut[ \t]+)?)?([a-z_]\w*)\)?[ \t]*(?::[ \t]*[\w.<>]+[ \t]*)?:?=` +
		`[ \t]*(?:await[ \t]+)?(?:new[ \t]+)?[\w.:]+(?:\([^()\n]*\))?[ \t]*;?\s*$`)
	// setsStatus matches a call that sets a status on an object. Such a call gives the object to no server.
	setsStatus = lazyregexp.New(`(?i)^\s*(?:\.|->)\s*(?:set|add_?status|clear|enter|shutdown)`)
	// functionName matches the head of a function.
	functionName = lazyregexp.New(`^\s*(?:(?:pub|async|export|static|private|public|internal|def|fn|fun|func|` +
		`function|sub|void|self\.)[ \t]*)+(?P<name>[a-z_]\w*)\s*\(`)
)

// decide reports whether a condition decides if the product of a line reaches a server. left is the number of uses to
// follow.
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
		return !isSure && (isUsed || function >= 0) // no other file can use a name in a function
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

// uses reports whether a name is used outside of its declaration, and whether a use is under no such condition.
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

// hasServer reports whether a function has a server. function is the line of its head.
func (c *conditions) hasServer(function int) bool {
	for _, line := range c.servers {
		if c.blocks.Function(c.Text, line) == function {
			return true
		}
	}
	return false
}

// isOnByDefault matches the negation of an option that turns something off: !*noHealth, not args.disable_health.
var isOnByDefault = lazyregexp.New(
	`^(?:!\s*|not\s+)[*&\w.$@>-]*?(?:\b|_|[*.])(?:[nN]o(?:_|[A-Z])|[dD]isable|[wW]ithout|[sS]kip)\w*(?:\(\))?$`)

// isUnder reports whether a line is in a branch of its function that has no server.
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
