package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// MarkConditional returns the findings of a text in which each registration of grpc.health.v1 is not sure that runs
// under a condition: in a branch of a condition or a loop, in the function that it stands in, in which no server is
// made or told its address. isOther, or nil, finds further types than [finding.Health].
func MarkConditional(t *source.Text, found []finding.Finding, isOther func(finding.Finding) bool) []finding.Finding {
	var blocks *source.Blocks
	for i, f := range found {
		at := finding.Offset(f)
		isHealth := finding.Is[finding.Health](f) || finding.Is[finding.HealthMade](f) || isOther != nil && isOther(f)
		if !isHealth || at == 0 {
			continue
		}
		if blocks == nil {
			blocks = source.FindBlocks(t)
		}
		if line := t.LogicalLine(at); isConditional(t, blocks, line, serverLines(t, found)) {
			found[i] = finding.AsUnsure(f)
		}
	}
	return found
}

// isConditional reports whether a line is in a branch, in the function around the line, that none of other lines is in.
func isConditional(t *source.Text, blocks *source.Blocks, line int, others []int) bool {
	for _, head := range blocks.Conditions(t, line) {
		isShared := false
		for _, other := range others {
			isShared = isShared || blocks.IsUnder(head, other)
		}
		if !isShared && !asksForNothing.Match(source.Condition(t.LineCode(head))) {
			return true
		}
	}
	return false
}

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
