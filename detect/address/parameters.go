package address

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// headName matches the name of a function or a class before its parameters.
	headName = lazyregexp.New(`(?:(\w+)\s*=\s*(?:async\s*)?(?:function\b\s*)?|(\w+)\s*(?:<[^<>]*>)?\s*)$`)
	// constructor matches a constructor name in languages with a name other than the class name, and class the head of
	// a class.
	constructor = source.Exactly(`__init__|__construct|constructor|initialize|init`)
	class       = lazyregexp.New(`\b(?:class|struct|object|actor)\s+(\w+)`)
	// inherits matches the head of a class before the name of its base class, whose constructor the class may call.
	inherits = lazyregexp.New(`\bclass\s+\w+\s*(?:\((?:\s*[\w.]+\s*,)*\s*|<\s*|\bextends\s+)$`)
	// receiver matches the first parameter of a method, which has no argument in calls.
	receiver = source.Exactly(`\s*(?:self|cls|&(?:mut\s+)?self)\s*`)
	// typed matches the word before a function name that is declared again, and calls the words before a call.
	typed = lazyregexp.New(`(\w+)[ \t*&]+$`)
	calls = source.Exactly(`new|await|return|yield|throw|else|do|in|and|or|not|then|try|go|co_await|co_return`)
	// parameterDefault matches the text before the default of a parameter.
	parameterDefault = lazyregexp.New(`^[^=]*[^=!<>]=\s*`)
)

// arguments returns the values of a parameter of a function of the file: the arguments of all calls in the file, or the
// default for a call without the argument. head is the first line of the function. A function without calls in the
// file, a function with the name of another one, and the constructor of a class with subclasses have no known values;
// nor has a default in a constructor that other files call.
func (n *Names) arguments(name string, head int) []declaration {
	start := n.LineStart(head)
	open := start + bytes.IndexByte(n.LineCode(head), '(')
	function, at := n.functionOf(head, open)
	number, value := n.parameter(name, open+1)
	if function == "" || number < 0 {
		return nil
	}
	isConstructor := at < start // its name is that of the class
	hasDefault := value.From < value.To && !(n.IsImported && isConstructor)
	var all []declaration
	for call := range n.Words(function) {
		end := call + len(function)
		if call == at {
			continue
		}
		line := n.Code[max(n.LineStart(n.LogicalLine(call)), call-maxBefore):call]
		if inherits.Match(line) {
			return nil // super() may give another value
		}
		if end == len(n.Code) || n.Code[end] != '(' {
			continue
		}
		if len(all) == maxDeclarations {
			return nil // another call may give another value
		}
		before := typed.FindSubmatch(line)
		if before != nil && !calls.Match(before[1]) {
			return nil
		}
		argument, ok := n.Argument(end+1, number, name)
		if !ok && !hasDefault {
			return nil
		}
		if !ok {
			argument = value
		}
		all = append(all, declaration{value: n.expression(argument), isOption: !ok}) // other files may give a value
	}
	return all
}

// functionOf returns the name in calls of a function, and the offset of the name in the function's head; "" for none.
// head is the line of the function, and open the offset of its bracket.
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
		if c := class.FindSubmatchIndex(n.LineCode(outer)); c != nil {
			return string(n.LineCode(outer)[c[2]:c[3]]), n.LineStart(outer) + c[2]
		}
	}
	return "", 0
}

// parameter returns the number of a parameter by its name, from 0, and its default. The number is below 0 for a missing
// parameter or a parameter that is not plain.
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
