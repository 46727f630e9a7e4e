package address

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Names are the names that a text declares, with the expressions that they are declared with.
type Names struct {
	*source.Text
	byName map[string][]declaration
	blocks *source.Blocks
	left   int // how many expressions may still be read
}

// declaration is a value of a name, and the scope that the name is visible in.
type declaration struct {
	value expression
	scope int // the index of a block
	// isOption says that the command line or the environment gives another value, and variable by which environment
	// variable, "" for none.
	isOption bool
	variable string
	// isBare says that it is an assignment without a word or a type that declares a variable.
	isBare bool
}

// expression is a part of a text, or code in a string of the text.
type expression struct {
	raw, code []byte
	at        int // the offset in the text, or that of the string
}

const (
	// maxDeclarations is how many declarations of one name are read, and maxExpressions how many expressions of one
	// text. Real texts have few; those that are made to take long have many.
	maxDeclarations = 16
	maxExpressions  = 1000
	// maxBefore is how many bytes of a line are looked at before a declaration: minified lines are long.
	maxBefore = 200
)

// Read collects the declarations that patterns match. The group "name" of a pattern is what is declared, or the group
// "field" what is reached as a field of something: an option "--listen-port" is the field listen_port. The group
// "value" is the value; without one the value is what follows the match, up to the first of the bytes in ends that
// stands in no bracket. A pattern with a group "statement" matches nothing in brackets: what looks like an assignment
// there is an argument of a call.
func Read(t *source.Text, ends string, patterns ...*lazyregexp.Regexp) *Names {
	n := &Names{Text: t, byName: map[string][]declaration{}, blocks: source.FindBlocks(t), left: maxExpressions}
	for _, p := range patterns {
		isArgument := func(int) bool { return false }
		if p.SubexpIndex("statement") >= 0 {
			isArgument = t.InBrackets()
		}
		for _, m := range t.FindAll(p, -1) {
			name, at := declared(t, p, m)
			if name == "" || isArgument(at) {
				continue
			}
			value := source.Span{From: m[1]}
			if i := p.SubexpIndex("value"); i >= 0 {
				value = source.Span{From: m[2*i], To: m[2*i+1]}
			} else {
				value.To = t.Until(m[1], ends)
			}
			// What begins so is a comparison, or what a function returns.
			if value.From < len(t.Code) && strings.IndexByte("=>", t.Code[value.From]) < 0 {
				n.add(name, at, declaration{value: n.expression(value)})
			}
		}
	}
	n.readTuples(ends)
	return n
}

// tuple is an assignment to several names: host, port = "localhost", 50051.
var tuple = lazyregexp.New(`(?m)^[ \t]*(?:(?:const|let|var|val|local)\s+)?[\[({]?` +
	`(?P<names>[@$]?\w+(?:[ \t]*,[ \t]*[@$]?\w+)+)[\])}]?[ \t]*:?=[ \t]*`)

// readTuples declares the names of assignments to several names, each with all of the values.
func (n *Names) readTuples(ends string) {
	for _, m := range n.FindAll(tuple, maxExpressions) {
		names, _ := n.Group(tuple, m, "names")
		value := source.Span{From: m[1], To: n.Until(m[1], strings.ReplaceAll(ends, ",", ""))}
		for name := range strings.SplitSeq(names, ",") {
			n.add(strings.TrimSpace(name), m[2], declaration{value: n.expression(value)})
		}
	}
}

// declared returns the name that a match declares, "" for none, and its offset.
func declared(t *source.Text, pattern *lazyregexp.Regexp, match []int) (name string, at int) {
	if i := pattern.SubexpIndex("field"); i >= 0 && match[2*i] >= 0 {
		field, _ := t.Group(pattern, match, "field")
		return Field(field), match[2*i]
	}
	if i := pattern.SubexpIndex("name"); i >= 0 && match[2*i] >= 0 {
		name, _ := t.Group(pattern, match, "name")
		return name, match[2*i]
	}
	return "", 0
}

// Field is the name of what is reached as a field of anything, such as an option of the command line.
func Field(name string) string {
	return "." + strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
}

// DeclareOption adds a declaration of a name that an option of the command line, or an environment variable, gives when
// the app runs, with its default in a span. The variable is "" for an option that has none, and the span is empty for
// one without a default.
func (n *Names) DeclareOption(name, variable string, value source.Span) {
	n.add(name, value.From, declaration{value: n.expression(value), isOption: true, variable: variable})
}

// AssignOption does what [Names.DeclareOption] does, for a variable that is declared elsewhere: a call is given its
// address.
func (n *Names) AssignOption(name, variable string, value source.Span) {
	n.add(name, value.From, declaration{
		value: n.expression(value), isOption: true, variable: variable, isBare: true,
	})
}

// add adds a declaration of a name that stands at an offset. What is reached as a field of anything is visible
// everywhere.
func (n *Names) add(name string, at int, d declaration) {
	if len(n.byName[name]) == maxDeclarations {
		return
	}
	if !strings.HasPrefix(name, ".") {
		isField := strings.HasPrefix(name, "@") || at > 0 && n.Code[at-1] == '.'
		line := n.LogicalLine(at)
		d.scope = n.blocks.ScopeOf(line, isField)
		d.isBare = d.isBare || bare.Match(n.Code[max(n.LineStart(line), at-maxBefore):at])
	}
	n.byName[name] = append(n.byName[name], d)
}

// visible returns the declarations of a name that are visible at an offset: those of the innermost scope around it that
// declares it. A
// parameter of a function around the offset hides those outside of the function: it is what calls give it.
func (n *Names) visible(name string, at int) []declaration {
	line := n.LogicalLine(at)
	innermost, depth := n.innermost(name, line, math.MaxInt)
	for n.onlyAssigns(name, innermost) {
		outer, outerDepth := n.innermost(name, line, depth)
		if outer == nil {
			break
		}
		innermost, depth = append(outer, innermost...), outerDepth
	}
	scope := 0
	if innermost != nil {
		scope = innermost[0].scope
	}
	if head := n.hiding(name, line, scope); head >= 0 {
		return n.arguments(name, head)
	}
	if innermost == nil {
		return nil
	}
	from, to := n.blocks.Lines(scope)
	for _, d := range n.byName[name] {
		if first, last := n.blocks.Lines(d.scope); d.isBare && from < first && last <= to && n.isOuter(first) {
			innermost = append(innermost, d)
		}
	}
	return innermost
}

// innermost returns the declarations of a name in the innermost scope around a line that is less deep than a depth, and
// how deep that is.
func (n *Names) innermost(name string, line, below int) (all []declaration, deepest int) {
	deepest = -1
	for _, d := range n.byName[name] {
		switch depth := n.blocks.Depth(d.scope, line); {
		case depth < 0 || depth < deepest || depth >= below:
		case depth > deepest:
			all, deepest = []declaration{d}, depth
		default:
			all = append(all, d)
		}
	}
	return all, deepest
}

// onlyAssigns reports whether declarations of a name, which are in one scope, are assignments to a variable that is
// declared around it.
func (n *Names) onlyAssigns(name string, all []declaration) bool {
	if len(all) == 0 || strings.HasPrefix(name, "$") || !n.isOuter(n.first(all[0])) {
		return false
	}
	return !slices.ContainsFunc(all, func(d declaration) bool { return !d.isBare })
}

// first returns the first line of the scope of a declaration.
func (n *Names) first(d declaration) int {
	from, _ := n.blocks.Lines(d.scope)
	return from
}

var (
	// bare is what stands in its line before an assignment that declares no variable.
	bare = lazyregexp.New(`(?:^|[;{}&|]|\b(?:then|do|and|or|else))\s*(?:\(\s*)?$`)
	// localFunction begins a function whose assignments are to variables of its own.
	localFunction = lazyregexp.New(`^\s*(?:async\s+)?def\b`)
)

// isOuter reports whether an assignment in the block that begins with a line is to a variable of a block around.
func (n *Names) isOuter(line int) bool {
	for _, head := range n.blocks.Heads(line, -1) {
		if code := n.LineCode(head); !source.IsBranch(code) {
			return !localFunction.Match(code)
		}
	}
	return false
}

// hiding returns the head of the function that a line is in and a scope is not, and that has a parameter of a name: the
// name stands in its brackets; -1 for none.
func (n *Names) hiding(name string, line, scope int) int {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "@") {
		return -1
	}
	from, to := n.blocks.Lines(scope)
	for _, head := range n.blocks.Heads(line, -1) {
		if head < from || head >= to {
			return -1
		}
		code := n.LineCode(head)
		open := bytes.IndexByte(code, '(')
		if open >= 0 && !source.IsBranch(code) && source.HasWord(code[open:], name) {
			return head
		}
	}
	return -1
}

func (n *Names) expression(s source.Span) expression {
	return expression{raw: n.Raw[s.From:s.To], code: n.Code[s.From:s.To], at: s.From}
}

// Values returns the values that a name has where it is used at an offset.
func (n *Names) Values(name string, at int) []source.Span {
	var values []source.Span
	for _, d := range n.visible(name, at) {
		values = append(values, source.Span{From: d.value.at, To: d.value.at + len(d.value.raw)})
	}
	return values
}
