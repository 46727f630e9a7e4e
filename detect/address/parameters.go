package address

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// headName is what stands before the parameters of a function or a class: its name.
	headName = lazyregexp.New(`(?:(\w+)\s*=\s*(?:async\s*)?(?:function\b\s*)?|(\w+)\s*(?:<[^<>]*>)?\s*)$`)
	// constructor is the name of a constructor in languages in which it is not that of its class, and class the head of
	// one.
	constructor = source.Exactly(`__init__|__construct|constructor|initialize|init`)
	class       = lazyregexp.New(`\b(?:class|struct|object|actor)\s+(\w+)`)
	// receiver is the first parameter of a method, which its calls do not have.
	receiver = source.Exactly(`\s*(?:self|cls|&(?:mut\s+)?self)\s*`)
	// typed is what stands before the name of a function that is declared again, and calls what does before a call.
	typed = lazyregexp.New(`(\w+)[ \t*&]+$`)
	calls = source.Exactly(`new|await|return|yield|throw|else|do|in|and|or|not|then|try|go|co_await|co_return`)
	// parameterDefault is what the default of a parameter stands behind.
	parameterDefault = lazyregexp.New(`^[^=]*[^=!<>]=\s*`)
)

// arguments returns what a parameter of a function of the file is: the arguments of all calls in the file, or the
// default where a call has none. head is the line on which the function begins. Nothing is known of a function that the
// file does not call, or that has the name of another one.
func (n *Names) arguments(name string, head int) []declaration {
	start := n.LineStart(head)
	open := start + bytes.IndexByte(n.LineCode(head), '(')
	function, at := n.functionOf(head, open)
	number, value := n.parameter(name, open+1)
	if function == "" || number < 0 {
		return nil
	}
	var all []declaration
	for call := range n.Words(function) {
		end := call + len(function)
		if call == at || end == len(n.Code) || n.Code[end] != '(' {
			continue
		}
		if len(all) == maxDeclarations {
			return nil // the others may give another value
		}
		before := typed.FindSubmatch(n.Code[max(n.LineStart(n.LogicalLine(call)), call-maxBefore):call])
		if before != nil && !calls.Match(before[1]) {
			return nil
		}
		argument, ok := n.Argument(end+1, number, name)
		if !ok && value.From == value.To {
			return nil
		}
		if !ok {
			argument = value
		}
		all = append(all, declaration{value: n.expression(argument), isOption: !ok}) // other files may give a value
	}
	return all
}

// functionOf returns the name by which the function is called whose parameters are in a bracket on a line, and where
// that name stands; "" for none.
func (n *Names) functionOf(head, open int) (name string, at int) {
	start := n.LineStart(head)
	m := headName.FindSubmatchIndex(n.Code[start:open])
	if m == nil {
		return "", 0
	}
	i := 2
	if m[2] < 0 {
		i = 4
	}
	name, at = string(n.Code[start+m[i]:start+m[i+1]]), start+m[i]
	if !constructor.MatchString(name) {
		return name, at
	}
	for _, outer := range n.blocks.Heads(head, -1) {
		if c := class.FindSubmatch(n.LineCode(outer)); c != nil {
			return string(c[1]), at
		}
	}
	return "", 0
}

// parameter returns the number of a parameter by its name, from 0, and its default; below 0 for one that is not among
// those after a bracket, or that is not plain.
func (n *Names) parameter(name string, open int) (number int, value source.Span) {
	each, _ := n.Arguments(open)
	if len(each) > 0 && receiver.MatchString(n.Slice(each[0])) {
		each = each[1:]
	}
	for i, p := range each {
		code := n.Slice(p)
		declared, _, _ := strings.Cut(code, "=")
		if !source.HasWord([]byte(declared), name) {
			continue
		}
		if strings.ContainsAny(declared, "({") {
			return -1, source.Span{}
		}
		if m := parameterDefault.FindStringIndex(code); m != nil {
			value = source.Span{From: p.From + m[1], To: p.To}
		}
		return i, value
	}
	return -1, source.Span{}
}
