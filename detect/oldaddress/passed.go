package address

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// definedName is the name of a function in the line that begins its body, and firstWord that of one which is
	// defined without brackets.
	definedName = lazyregexp.New(`(\w+[!?]?)\s*(?:<[^()]*>\s*)?\(`)
	firstWord   = lazyregexp.New(`^\s*(?:(?:def|let)\s+)?(\w+)`)
)

// passed returns those of the declarations of a name that may be meant on a line which sees none. If the name is a
// parameter of a function around the line, those are what is passed to it by this name: port := 50051; serve(port).
func (d *Names) passed(name string, line int, declared []declaration) []declaration {
	if declared == nil {
		return nil
	}
	head := d.headWith(name, line)
	if head < 0 {
		return declared
	}
	m := definedName.FindSubmatch(d.LineCode(head))
	if m == nil {
		m = firstWord.FindSubmatch(d.LineCode(head))
	}
	if m == nil {
		return nil
	}
	calls := d.passing(string(m[1]), name, head)
	return slices.DeleteFunc(declared, func(x declaration) bool {
		sees := func(line int) bool { return d.blocks.Depth(x.scope, line) >= 0 }
		return !slices.ContainsFunc(calls, sees)
	})
}

// IsParameter reports whether a name is a parameter of a function around an offset.
func (d *Names) IsParameter(name string, at int) bool {
	return d.headWith(name, d.LogicalLine(at)) >= 0
}

// maxHead is how many bytes the head of a function has, with its parameters.
const maxHead = 4000

// headWith returns the line of the innermost function around a line that has a parameter of a name, or -1.
func (d *Names) headWith(name string, line int) int {
	for _, head := range d.blocks.Heads(line, -1) {
		if code := d.LineCode(head); len(code) < maxHead && !source.IsBranch(code) && UsesName(string(code), name) {
			return head
		}
	}
	return -1
}

// passing returns the lines that call a function, which is defined on another line, with a name.
func (d *Names) passing(function, name string, defined int) []int {
	var lines []int
	for at := range d.Words(function) {
		line := d.LogicalLine(at)
		if line != defined && UsesName(string(d.Code[at:d.LineStart(line+1)]), name) {
			if lines = append(lines, line); len(lines) == MaxListeners {
				break
			}
		}
	}
	return lines
}
