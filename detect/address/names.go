package address

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Names are the declared names of a text, with the expressions of their declarations.
type Names struct {
	*source.Text
	byName map[string][]declaration
	blocks *source.Blocks
	left   int // how many more expressions may be read
	// Elsewhere returns the addresses of a name at an offset from other files, each in its place. The zero Address is
	// an unknown address.
	Elsewhere func(name string, at int) []Address
	// IsImported says that other files construct the classes of the text.
	IsImported bool
}

// declaration is a value of a name, and the scope of the name.
type declaration struct {
	value expression
	scope int // the index of a block
	// isOption says that the command line or the environment gives another value. variable is the environment variable
	// for the value, "" for none.
	isOption bool
	variable string
	// isBare says that the declaration is an assignment without a word or a type to declare a variable.
	isBare bool
}

// expression is a part of a text, or code in a string of the text.
type expression struct {
	raw, code []byte
	at        int // the offset in the text, or the offset of the string
}

const (
	// maxDeclarations bounds the declarations of one name, and maxExpressions the expressions of one text. Real texts
	// have few; texts made to take long have many.
	maxDeclarations = 16
	maxExpressions  = 1000
	// maxBefore is the number of bytes read on a line before a declaration: minified lines are long.
	maxBefore = 200
)

// Read collects the declarations that match patterns. The group "name" of a pattern is the declared name. The group
// "field" is the name of a field of any object: an option "--listen-port" is the field listen_port. The group "value"
// is the value; without the group, the value is the text after the match, up to the first of the bytes in ends outside
// of brackets. A pattern with a group "statement" matches nothing in brackets: an apparent assignment there is an
// argument of a call.
func Read(t *source.Text, ends string, patterns ...*lazyregexp.Regexp) *Names {
	n := &Names{Text: t, byName: map[string][]declaration{}, blocks: source.FindBlocks(t), left: maxExpressions}
	n.Elsewhere = func(string, int) []Address { return nil }
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
			// These bytes begin a comparison, or the result of a function.
			if value.From < len(t.Code) && strings.IndexByte("=>", t.Code[value.From]) < 0 {
				n.add(name, at, declaration{value: n.expression(value)})
			}
		}
	}
	n.readTuples(ends)
	return n
}

// tuple matches an assignment to several names: host, port = "localhost", 50051.
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

// declared returns the name in a match, "" for none, and the offset of the name.
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

// Field returns the name of a field of any object, such as an option of the command line.
func Field(name string) string {
	return "." + strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
}

// DeclareOption adds a declaration of a name with a value from an option of the command line or from an environment
// variable. The variable is "" for an option without a variable. value is the span of the default, empty for none.
func (n *Names) DeclareOption(name, variable string, value source.Span) {
	n.add(name, value.From, declaration{value: n.expression(value), isOption: true, variable: variable})
}

// AssignOption is [Names.DeclareOption] for a variable with its declaration elsewhere: a call gets the variable's
// address.
func (n *Names) AssignOption(name, variable string, value source.Span) {
	n.add(name, value.From, declaration{
		value: n.expression(value), isOption: true, variable: variable, isBare: true,
	})
}

// add adds a declaration of a name at an offset. A field of any object is visible everywhere.
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

// visible returns the declarations of a name in the innermost scope around an offset. A parameter of a function around
// the offset hides the declarations outside of the function: calls give the parameter its value.
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

// innermost returns the declarations of a name in the innermost scope around a line at a depth below a bound, and the
// depth.
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

// onlyAssigns reports whether the declarations of a name, all in one scope, are assignments to a variable of a scope
// around.
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
	// bare matches the text on the line before an assignment that declares no variable.
	bare = lazyregexp.New(`(?:^|[;{}&|]|\b(?:then|do|and|or|else))\s*(?:\(\s*)?$`)
	// localFunction matches the head of a function with assignments to its own variables.
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

// hiding returns the head of a function around a line, but not around a scope, with a parameter of a name: the name
// stands in the brackets of the head. -1 stands for none.
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

// Values returns the values of a name at an offset.
func (n *Names) Values(name string, at int) []source.Span {
	var values []source.Span
	for _, d := range n.visible(name, at) {
		values = append(values, source.Span{From: d.value.at, To: d.value.at + len(d.value.raw)})
	}
	return values
}
