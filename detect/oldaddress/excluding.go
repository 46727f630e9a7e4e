package address

import (
	"bytes"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// leaves ends a function before its last line.
var leaves = lazyregexp.New(`\b(?:return|throw)\b`)

// Excluding returns the conditions that decide which one of two parts of a text is executed, by their offsets: both are
// branches of one condition, or the first one leaves the function before the second one. It returns nothing for parts
// that may be executed both.
func (d *Names) Excluding(a, b int) []source.Span {
	if a > b {
		a, b = b, a
	}
	if c, ok := d.ternary(a); ok {
		if other, _ := d.ternary(b); other == (Condition{c.Span, !c.Negated}) {
			return []source.Span{c.Span}
		}
	}
	first, second := d.Conditions(a, b), d.Conditions(b, a)
	var all []source.Span
	for _, c := range first {
		if len(second) == 0 && d.leavesBefore(a, b) || slices.Contains(second, Condition{c.Span, !c.Negated}) {
			all = append(all, c.Span)
		}
	}
	return all
}

// maxReturns is how many bytes before code are searched for what leaves its function.
const maxReturns = 1000

var (
	returning = lazyregexp.New(`\breturn\b`)
	// failing is a return, up to its value, of a function or a program that has failed.
	failing = lazyregexp.New(`^return\s*\(?\s*(?:(?:std::)?EXIT_FAILURE\b|-?[1-9]\d*\s*\)?\s*;|Err\()`)
	// isDone is a condition that holds if the function has done its work before.
	isDone = lazyregexp.New(`(?i)already|added|registered|started|running|initiali[sz]ed|closed|stopped|done\b`)
)

// Left returns what decides whether the function around the code at an offset is left before it, as conditions of that
// code: if (disabled) { return } before it. It leaves out those that the code at another offset has too.
func (d *Names) Left(at int, others ...int) []Condition {
	from := max(0, at-maxReturns)
	all := slices.Clone(d.leftBefore(at, from))
	for _, other := range others {
		if len(all) > 0 {
			both := d.leftBefore(other, min(from, max(0, other-maxReturns)))
			all = slices.DeleteFunc(all, func(c Condition) bool { return slices.Contains(both, c) })
		}
	}
	return all
}

// InMain reports whether the code at an offset stands in the function that a program begins with: what is left there
// ends the program.
func (d *Names) InMain(at int) bool {
	return slices.ContainsFunc(d.blocks.Heads(d.LogicalLine(at), 0), func(head int) bool {
		return mainFunction.Match(d.LineCode(head))
	})
}

// InFunction reports whether the code at an offset stands in a function: the innermost block around it that is no
// branch has a head that a pattern, of what else has one, does not match.
func (d *Names) InFunction(at int, other *lazyregexp.Regexp) bool {
	for _, n := range d.blocks.Heads(d.LogicalLine(at), -1) {
		if head := d.LineCode(n); !source.IsBranch(head) {
			return !other.Match(head)
		}
	}
	return false
}

var mainFunction = lazyregexp.New(`\b[mM]ain\s*\(`)

// leftBefore returns the conditions of [Names.Left] from an offset on, and keeps them for the next one who asks.
func (d *Names) leftBefore(at, from int) []Condition {
	asked := source.Span{From: from, To: at}
	if all, ok := d.leftAt[asked]; ok {
		return all
	}
	var all []Condition
	for _, m := range returning.FindAllIndex(d.Code[from:at], MaxListeners) {
		left := from + m[0]
		conditions := d.Conditions(left, at)
		if len(conditions) != 1 || len(d.Excluding(left, at)) == 0 {
			continue
		}
		c := conditions[0]
		isBehind := c.From > left // return unless enabled
		// A function in the function, which is left instead, is a block of its own around the condition.
		runs := isBehind || d.RunsWith(d.LineStart(d.LogicalLine(c.From)), at)
		if runs && !failing.Match(d.Code[left:at]) && !isDone.MatchString(d.Slice(c.Span)) {
			all = append(all, Condition{c.Span, !c.Negated})
		}
	}
	if d.leftAt == nil {
		d.leftAt = map[source.Span][]Condition{}
	}
	d.leftAt[asked] = all
	return all
}

// leavesBefore reports whether the outermost block around the code at an offset leaves the function, so that the code
// at a later offset, which is in no further function, is not executed after it.
func (d *Names) leavesBefore(at, later int) bool {
	first, last := d.LogicalLine(at), d.LogicalLine(later)
	for _, head := range d.blocks.Heads(last, first) {
		if !source.IsBranch(d.LineCode(head)) {
			return false
		}
	}
	if heads := d.blocks.Heads(first, last); len(heads) > 0 {
		first = heads[len(heads)-1]
	}
	indent := d.Indented(first)
	for line := first; line < last && (line == first || !d.isOutside(line, indent)); line++ {
		if leaves.Match(d.LineCode(line)) {
			return true
		}
	}
	return false
}

// isOutside reports whether a line, from 0, has code that is indented no more than a block's head. Brackets alone only
// begin or end the block.
func (d *Names) isOutside(line, indent int) bool {
	in := d.Indented(line)
	return in >= 0 && in <= indent && len(bytes.Trim(d.LineCode(line), "{}() \t\r\n")) > 0
}
