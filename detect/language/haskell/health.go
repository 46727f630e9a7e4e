package haskell

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// conditionBefore is a condition about the health service or an option, before the code under the condition.
	// conditionBehind is such a condition after an element of a list: [health | enabled].
	conditionBefore = lazyregexp.New(
		`(?s)\b(?:if|when|unless)\b[^=;]{0,100}?(?i:health|enable|disable)[^=;]{0,200}$`)
	conditionBehind = lazyregexp.New(`^[^\n\[\]|]{0,100}\|[^\n\]|<]{0,100}?(?i:health|enable|disable)[^\n\]|<]*\]`)
)

const (
	// maxCondition is how many bytes before and after code are searched for a condition, and maxUses bounds the uses of
	// a name.
	maxCondition = 300
	maxUses      = 16
)

// markHealth marks health services under a condition as unsure. The condition is at the service, or at every use of the
// definition around the service.
func markHealth(t *source.Text, found []finding.Finding) {
	definitions := t.FindAll(topLevelName, -1)
	for i, f := range found {
		at := finding.Offset(f)
		if finding.Is[finding.Health](f) && (onCondition(t, at) || onlyOnCondition(t, definitions, at)) {
			found[i] = finding.AsUnsure(f)
		}
	}
}

// onCondition reports whether the code at an offset runs on a condition. A line without indentation begins a definition
// and ends the search backward.
func onCondition(t *source.Text, at int) bool {
	from := max(0, at-maxCondition)
	for i := at - 1; i > from; i-- {
		if t.Code[i] == '\n' && source.IsWordByte(t.Code[i+1]) {
			from = i
		}
	}
	line := t.LogicalLine(at)
	for m := conditionBefore.FindIndex(t.Code[from:at]); m != nil; m = conditionBefore.FindIndex(t.Code[from:at]) {
		if of := t.LogicalLine(from + m[0]); of == line || t.Indented(of) < t.Indented(line) {
			return true
		}
		from += m[0] + 1 // the condition has ended
	}
	return conditionBehind.Match(t.Code[at:min(len(t.Code), at+maxCondition)])
}

// onlyOnCondition reports whether the definition around an offset is used, and only under conditions.
func onlyOnCondition(t *source.Text, definitions [][]int, at int) bool {
	name := ""
	for _, m := range definitions {
		if m[0] > at {
			break
		}
		name = t.Slice(source.Span{From: m[2], To: m[3]})
	}
	if name == "" || name == "main" {
		return false
	}
	uses := 0
	for use := range t.Words(name) {
		if use == 0 || t.Code[use-1] == '\n' {
			continue // the definition, or the type
		}
		if uses++; uses > maxUses || !onCondition(t, use) {
			return false
		}
	}
	return uses > 0
}
