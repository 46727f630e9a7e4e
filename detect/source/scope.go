package source

import (
	"bytes"
	"slices"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Blocks are the blocks of a text by indentation, which people write alike in all languages, with braces and without. A
// text without indentation is a single block, where every name is visible everywhere.
type Blocks struct {
	all    []block
	ofLine []int // the index in all, by line from 0
}

// block is the lines of one indentation, including lines with more in between.
type block struct {
	indent   int
	from, to int // lines, from 0; to is the line after the last
	depth    int // the number of blocks around the block
	parent   int // the index of the block around the block
	// scope is the index of the block of the names declared here: a function may run the blocks of conditions and loops
	// or not, and names in such blocks belong to the function.
	scope int

	header int // the line in the block that heads the next inner block
	head   int // the line that heads the block, or -1
}

// conditional begins the header of a block of a condition or a loop.
var conditional = lazyregexp.New(`^[\s})]*(?:[iI]f|[eE]lse(?:If)?|elif|elsif|elseif|unless|case|cond|default|` +
	`switch|match|when|select|try|catch|except|finally|rescue|ensure|with|for|foreach|while|loop|do|` +
	`begin|using|lock|unsafe)\b`)

// hasArms begins a block of branches without a word before each: match in Rust, when in Kotlin, case in Elixir.
var hasArms = lazyregexp.New(`\b(?:match|when|case|cond|select!?|switch)\b[^;]*(?:\{|\bdo|\bof)\s*$`)

// IsBranch reports whether a line of code is the header of a block of a condition or a loop.
func IsBranch(line []byte) bool { return conditional.Match(line) }

// onlyOpens is a line that only opens a block. The line before is the header.
var onlyOpens = lazyregexp.New(`^\s*[{(\[]\s*$`)

// FindBlocks finds the blocks of a text in one pass over the lines.
func FindBlocks(t *Text) *Blocks {
	b := &Blocks{all: []block{{to: len(t.logical), header: -1, head: -1}}, ofLine: make([]int, len(t.logical))}
	open := []int{0} // the blocks around the line, by index, each indented more than the last
	for i := range t.logical {
		code, indent := t.LineCode(i), t.Indented(i)
		if indent < 0 {
			b.ofLine[i] = open[len(open)-1]
			continue
		}
		for len(open) > 1 && b.all[open[len(open)-1]].indent > indent {
			b.all[open[len(open)-1]].to = i
			open = open[:len(open)-1]
		}
		if in := open[len(open)-1]; b.all[in].indent < indent {
			open = append(open, len(b.all))
			b.all = append(b.all, b.inner(t, in, i, indent))
		}
		in := open[len(open)-1]
		b.ofLine[i] = in
		if !onlyOpens.Match(code) {
			b.all[in].header = i
		}
	}
	return b
}

// inner returns a block that begins with a line, within the block with the index parent.
func (b *Blocks) inner(t *Text, parent, line, indent int) block {
	in := block{
		indent: indent, from: line, to: len(t.logical), depth: b.all[parent].depth + 1, parent: parent,
		scope: len(b.all), header: -1, head: b.all[parent].header,
	}
	isArm := b.all[parent].head >= 0 && hasArms.Match(t.LineCode(b.all[parent].head))
	if in.head >= 0 && (isArm || conditional.Match(t.LineCode(in.head))) {
		in.scope = b.all[parent].scope
	}
	return in
}

// ScopeOf returns the index of the block that a name declared on a line belongs to. A field belongs to the block around
// the function that sets the field.
func (b *Blocks) ScopeOf(line int, isField bool) int {
	scope := b.all[b.ofLine[line]].scope
	if isField {
		scope = b.all[b.all[scope].parent].scope
	}
	return scope
}

// Lines returns the first line of a scope, by index, and the line after the last.
func (b *Blocks) Lines(scope int) (from, to int) { return b.all[scope].from, b.all[scope].to }

// Heads returns the heads of the blocks that are around a line but not around the line outer, the innermost first.
func (b *Blocks) Heads(line, outer int) []int {
	var heads []int
	for in := b.ofLine[line]; in > 0 && b.Depth(in, outer) < 0; in = b.all[in].parent {
		if head := b.all[in].head; head >= 0 {
			heads = append(heads, head)
		}
	}
	return heads
}

// condition begins the header of a block that runs on a condition. modifier is a condition behind a statement.
var (
	condition = lazyregexp.New(`^[\s})]*(?:(?:(?:let|val|var|const)\s+)?(?:mut\s+)?[\w$@.]+(?:\s*:\s*\w+)?\s*=\s*|` +
		`return\s+)?(?:else\s*)?(?:[iI]f|[eE]lse(?:If)?|elif|elsif|elseif|unless|case|cond|default|switch|match|when|` +
		`guard)\b\s*`)
	modifier      = lazyregexp.New(`\S[ \t]+(?:if|unless)[ \t]+`)
	opensBranch   = lazyregexp.New(`(?:[\s:{]|\b(?:then|do))*$`)
	inParentheses = lazyregexp.New(`^\((.*)\)$`)
)

// Conditions returns the heads of the branches around a line, by line index, up to the function around the line. The
// innermost is first, and may be the line itself. Heads of other blocks, such as loops, are no branches.
func (b *Blocks) Conditions(t *Text, line int) []int {
	var heads []int
	if code := t.LineCode(line); condition.Match(code) || modifier.Match(code) {
		heads = append(heads, line)
	}
	for _, head := range b.Heads(line, -1) {
		code := t.LineCode(head)
		switch {
		case condition.Match(code):
			heads = append(heads, head)
		case !conditional.Match(code) && !b.isArm(t, head):
			return heads
		}
	}
	return heads
}

// isArm reports whether a line begins a branch without a word before, as in match.
func (b *Blocks) isArm(t *Text, line int) bool {
	head := b.all[b.ofLine[line]].head
	return head >= 0 && hasArms.Match(t.LineCode(head))
}

// Condition returns the condition of a line that begins a branch, or of a statement with a condition behind. The result
// is "" for a line without a condition, such as else.
func Condition(line []byte) []byte {
	code := opensBranch.ReplaceAll(line, nil)
	if head := condition.FindIndex(code); head != nil {
		code = code[head[1]:]
	} else if behind := modifier.FindIndex(code); behind != nil {
		code = code[behind[1]:]
	}
	return inParentheses.ReplaceAll(bytes.TrimSpace(code), []byte("$1"))
}

// IsUnder reports whether head is the head of a block around a line, or the line itself.
func (b *Blocks) IsUnder(head, line int) bool {
	return head == line || slices.Contains(b.Heads(line, -1), head)
}

// Function returns the index of the line that heads the function around a line, or -1: the first head that begins
// neither a branch nor a loop.
func (b *Blocks) Function(t *Text, line int) int {
	for _, head := range b.Heads(line, -1) {
		if code := t.LineCode(head); !conditional.Match(code) && !condition.Match(code) && !b.isArm(t, head) {
			return head
		}
	}
	return -1
}

// BodyEnd returns the end of a function's body that is indented more than the head: the next line indented no more. at
// is the offset of the end of the parameters. BodyEnd gives up after maxCall bytes.
func (t *Text) BodyEnd(at int) int {
	line := t.LogicalLine(at)
	head := t.Indented(line)
	for line++; line < len(t.logical) && t.LineStart(line) < at+maxCall; line++ {
		if indent := t.Indented(line); indent >= 0 && indent <= head {
			return t.LineStart(line)
		}
	}
	return t.LineStart(line)
}

// Depth returns how deep a scope around a line lies, and -1 for a scope that is not around the line.
func (b *Blocks) Depth(scope, line int) int {
	if s := b.all[scope]; line >= s.from && line < s.to {
		return s.depth
	}
	return -1
}
