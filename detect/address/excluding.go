package address

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// leaves ends a function before its last line.
var leaves = regexp.MustCompile(`\b(?:return|throw)\b`)

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

// leavesBefore reports whether the outermost block around the code at an offset leaves the function, so that the code
// at a later offset, which is in no further block, is not executed after it.
func (d *Names) leavesBefore(at, later int) bool {
	first, last := d.Line(at)-1, d.Line(later)-1
	if len(d.blocks.Heads(last, first)) > 0 {
		return false
	}
	if heads := d.blocks.Heads(first, last); len(heads) > 0 {
		first = heads[len(heads)-1]
	}
	indent := d.Indented(first + 1)
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
	in := d.Indented(line + 1)
	return in >= 0 && in <= indent && len(bytes.Trim(d.LineCode(line), "{}() \t\r\n")) > 0
}
