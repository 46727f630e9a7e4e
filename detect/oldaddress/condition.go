package address

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Condition is what decides whether a part of a text is executed.
type Condition struct {
	source.Span
	// Negated says that the part is executed if the condition does not hold.
	Negated bool
}

var (
	// branch begins what may run or not: the word before a condition. A question mark may stand after one, which in
	// Kotlin may be that of x?.let { }.
	branch = lazyregexp.New(`(?P<word>\b(?i:else[ \t]*if|elif|elsif|if|unless|else|match|switch|case|cond|when|` +
		`guard|catch)\b)|\?`)
	ifNotNull = lazyregexp.New(`^\?\.(?:let|also|run|apply)\b`)
	// beforeQuestion are the words before a question mark that is a part of them, in Swift and Kotlin.
	beforeQuestion = lazyregexp.New(`\b(?:try|as)$`)
	// branchEnd is what follows a condition in its line, and inElse ends code before the second branch.
	branchEnd = lazyregexp.New(`\s*[:{]?\s*$`)
	inElse    = lazyregexp.New(`\belse\s*\{?\s*$`)
	// goesOn follows brackets that are a part of a condition alone.
	goesOn = lazyregexp.New(`^\s*(?:[&|=!<>.?+-]|(?:and|or)\b)`)
	// behindIf is what follows the first branch of: first if condition else second.
	behindIf = lazyregexp.New(`^(?:[^,;()]|\((?:[^()]|\([^()]*\))*\))*?\sif\s(?P<condition>.+?)\selse\s`)
	// ifTrue is what stands before a call that is made on a condition: condition && call(), or with the word and.
	ifTrue = lazyregexp.New(`^\s*([^\s;{}=&|][^;{}=&|]*?)\s*(?:&&|\band\b)\s*(?:await\s+)?[\w$.?]*$`)
	elseIf = lazyregexp.New(`\sif\s(?P<condition>.+?)\selse\s*$`)
)

const (
	// maxConditions is how many blocks around code are looked at, and maxConditionLines how many lines above an else.
	maxConditions     = 16
	maxConditionLines = 60
	// maxTernary is how many bytes before a branch are searched for the condition of condition ? first : second.
	maxTernary = 300
)

// Conditions returns what decides whether the code at an offset runs that stands around it and not around another one,
// the innermost first: what goes before it in its line, and the heads of the blocks around it, by their indentation.
func (d *Names) Conditions(at, outer int) []Condition {
	line := d.LogicalLine(at)
	all := d.inLine(line, at, outer)
	for _, n := range d.blocks.Heads(line, d.LogicalLine(outer)) {
		if len(all) < maxConditions {
			all = append(all, d.ofBranch(n, source.Span{From: d.LineStart(n), To: d.LineStart(n + 1)})...)
		}
	}
	return all
}

// ConditionsAround returns the spans of [Names.Conditions].
func (d *Names) ConditionsAround(at, outer int) []source.Span {
	var all []source.Span
	for _, c := range d.Conditions(at, outer) {
		all = append(all, c.Span)
	}
	return all
}

// ConditionsOfCalls returns the conditions by which the function is called whose name is declared at an offset, without
// those around another one: none if a call in the text has none.
func (d *Names) ConditionsOfCalls(name string, declaredAt, outer int) []source.Span {
	var all []source.Span
	for at := range d.Words(name) {
		after := bytes.TrimLeft(d.Code[at+len(name):], " \t")
		if at == declaredAt || !bytes.HasPrefix(after, []byte("(")) {
			continue
		}
		conditions := d.ConditionsAround(at, outer)
		if len(conditions) == 0 || len(all) > maxConditions {
			return nil
		}
		all = append(all, conditions...)
	}
	return all
}

// function is the head of a function by which it can be called elsewhere in a text, in any language of these: with a
// keyword or a modifier, or after its type.
var function = lazyregexp.New(`(?:\b(?:def|fn|fun|func|function|void|static|private|protected|public|async)[ \t]+` +
	`(?:[\w.<>?\[\],]+[ \t]+)*?|^[ \t]*[A-Z][\w.<>?\[\], ]*[ \t])` +
	`(?:[\w.<>*?]+\.)?(?P<name>\w+)[ \t]*(?:<[^<>()]*>)?\(`)

// ConditionsOfFunction returns the conditions by which the innermost function is called that the code at an offset
// stands in, and that at another one does not.
func (d *Names) ConditionsOfFunction(at, outer int) []source.Span {
	if name, ok := d.functionAround(at, outer); ok {
		return d.ConditionsOfCalls(d.Slice(name), name.From, outer)
	}
	return nil
}

// functionAround returns where the name is of the innermost function that the code at an offset stands in, and that at
// another one does not.
func (d *Names) functionAround(at, outer int) (source.Span, bool) {
	for _, n := range d.blocks.Heads(d.LogicalLine(at), d.LogicalLine(outer)) {
		if m := function.FindSubmatchIndex(d.LineCode(n)); m != nil {
			start := d.LineStart(n)
			return source.Span{From: start + m[2], To: start + m[3]}, true
		}
	}
	return source.Span{}, false
}

var (
	// constructor is the name of a function that makes an object of its class.
	constructor = lazyregexp.New(`^(?:new|constructor|initialize|__init__|__construct)$`)
	classOf     = lazyregexp.New(`\b(?:class|struct|impl|object)[ \t]+(\w+)`)
)

// FunctionAt returns the offset of the name of the innermost function that the code at an offset stands in; -1 if it is
// in none.
func (d *Names) FunctionAt(at int) int {
	if name, ok := d.functionAround(at, 0); ok {
		return name.From
	}
	return -1
}

// FunctionOf returns the name of the innermost function that the code at an offset stands in, as [FunctionName] has it;
// "" if it is in none.
func (d *Names) FunctionOf(at int) string {
	name, ok := d.functionAround(at, 0)
	if !ok {
		return ""
	}
	for _, n := range d.blocks.Heads(d.LogicalLine(name.From), 0) {
		if m := classOf.FindSubmatch(d.LineCode(n)); m != nil {
			return FunctionName(d.Slice(name), string(m[1]))
		}
	}
	return d.Slice(name)
}

// FunctionName returns the name by which a function of a class is called: that of the class for its constructor.
func FunctionName(name, class string) string {
	if constructor.MatchString(name) {
		return class
	}
	return name
}

// RunsWith reports whether the code at an offset runs whenever the code around another one does: it is in the same
// blocks, and on no condition.
func (d *Names) RunsWith(at, around int) bool {
	return len(d.blocks.Heads(d.LogicalLine(at), d.LogicalLine(around))) == 0 && len(d.Conditions(at, around)) == 0
}

// ofBranch returns the condition of the branch that begins in a span of a line, from 0, and the conditions before an
// else, which do not hold in it.
func (d *Names) ofBranch(line int, s source.Span) []Condition {
	c, word := d.condition(s)
	if word == "" {
		return nil
	}
	all := []Condition{c}
	indent := d.Indented(line)
	for n := line - 1; n >= max(0, line-maxConditionLines) && strings.HasPrefix(word, "el"); n-- {
		in := d.Indented(n)
		if in >= 0 && in < indent {
			break
		}
		before, of := d.condition(source.Span{From: d.LineStart(n), To: d.LineStart(n + 1)})
		if in != indent || of == "" || of == "?" {
			continue
		}
		if word == "else" {
			all = all[:len(all)-1] // it has no condition of its own
		}
		before.Negated = !before.Negated
		all, word = append(all, before), of
	}
	return all
}

// condition returns the condition of the branch that begins in a span, and its word, "" if none begins there.
func (d *Names) condition(s source.Span) (c Condition, word string) {
	code := d.Code[s.From:s.To]
	from := 0
	m := branch.FindSubmatchIndex(code)
	for m != nil && m[2] < 0 {
		at := from + m[0]
		if isTernary(code, at) || ifNotNull.Match(code[at:]) {
			return Condition{Span: d.Trim(source.Span{From: s.From, To: s.From + at})}, "?"
		}
		from += m[1]
		m = branch.FindSubmatchIndex(code[from:])
	}
	if m == nil {
		return c, ""
	}
	word = strings.ToLower(string(code[from+m[2] : from+m[3]]))
	c = Condition{source.Span{From: s.From + from + m[1], To: s.From + branchEnd.FindIndex(code)[0]}, word == "unless"}
	if c.To = max(c.From, c.To); word != "else" && inElse.Match(code) {
		c.Negated = !c.Negated
		c.To = c.From + max(0, bytes.IndexByte(d.Code[c.From:s.To], '{'))
	}
	c.Span = d.Trim(c.Span)
	if open := c.From; open < s.To && d.Code[open] == '(' {
		if end := d.Until(open+1, ""); end < s.To && !goesOn.Match(d.Code[end+1:s.To]) {
			c.Span = source.Span{From: open + 1, To: end}
		}
	}
	return c, word
}

// inLine returns the conditions that stand in the line of the code at an offset.
func (d *Names) inLine(line, at, outer int) []Condition {
	start := d.LineStart(line)
	behind := d.Code[at : start+len(bytes.TrimSuffix(d.LineCode(line), []byte("\n")))]
	if m := behindIf.FindSubmatchIndex(behind); m != nil {
		return []Condition{{source.Span{From: at + m[2], To: at + m[3]}, false}}
	}
	if d.Modifier != nil {
		if m := d.Modifier.FindSubmatchIndex(behind); m != nil {
			isNot := string(behind[m[2]:m[3]]) == "unless"
			return []Condition{{source.Span{From: at + m[4], To: at + m[5]}, isNot}}
		}
	}
	if m := elseIf.FindSubmatchIndex(d.Code[start:at]); m != nil {
		return []Condition{{source.Span{From: start + m[2], To: start + m[3]}, true}}
	}
	if c, ok := d.ternary(at); ok && (outer < c.From || outer > at) {
		return []Condition{c}
	}
	if start <= outer && outer <= at {
		start = outer
	}
	var all []Condition
	for end := at; end >= start; {
		from, open := d.Around(end, start, ";")
		from = max(from, start)
		if m := ifTrue.FindSubmatchIndex(d.Code[from:max(from, end)]); m != nil {
			all = append(all, Condition{Span: source.Span{From: from + m[2], To: from + m[3]}})
		}
		all = append(all, d.ofBranch(line, source.Span{From: from, To: end})...)
		end = open
	}
	return all
}

// ternary returns the condition of the branch that begins at an offset, of condition ? first : second.
func (d *Names) ternary(at int) (Condition, bool) {
	isElse := false
	end := beforeInBrackets(d.Code, at, func(i int) bool {
		switch c := d.Code[i]; {
		case c == ':' && d.Code[i-1] != ':' && d.Code[i+1] != ':':
			isElse = true
		case c == '?':
			return isTernary(d.Code, i)
		}
		return endsExpression(d.Code, i)
	})
	if end <= 0 || d.Code[end] != '?' {
		return Condition{}, false
	}
	from := 1 + beforeInBrackets(d.Code, end, func(i int) bool { return endsExpression(d.Code, i) })
	if returned := bytes.TrimLeft(d.Code[from:end], " \t\r\n"); bytes.HasPrefix(returned, []byte("return ")) {
		from = end - len(returned) + len("return ")
	}
	return Condition{d.Trim(source.Span{From: from, To: end}), isElse}, true
}

// isTernary reports whether the question mark at an offset stands after a condition, with an expression after it. In
// Rust, Swift, Kotlin, C# and Ruby it may also be a part of the expression before it, of a type or of a name.
func isTernary(code []byte, at int) bool {
	behind := code[at+1:]
	first := bytes.TrimLeft(behind, " \t\r\n")
	isApart := at > 0 && strings.IndexByte(" \t\r\n", code[at-1]) >= 0
	switch {
	case at == 0 || code[at-1] == '?' || beforeQuestion.Match(code[max(0, at-len("\ttry")):at]):
		return false
	case len(first) == 0:
		return true
	case first[0] == '.':
		return isApart
	case source.IsWordByte(first[0]):
		return len(first) < len(behind)
	}
	return strings.IndexByte("?:,;)]}=>", first[0]) < 0
}

// beforeInBrackets returns the last offset before another one at which found says so, or at which a bracket opens
// around it; -1 if that is too far away.
func beforeInBrackets(code []byte, at int, found func(i int) bool) int {
	depth := 0
	for i := at - 1; i > max(0, at-maxTernary); i-- {
		switch code[i] {
		case ')', ']', '}':
			depth++
			continue
		case '(', '[', '{':
			depth--
		}
		if depth < 0 || depth == 0 && i+1 < len(code) && found(i) {
			return i
		}
	}
	return -1
}

// endsExpression reports whether an expression begins after a byte: an assignment, a comma, the end of a line that
// does not go on with an operator.
func endsExpression(code []byte, i int) bool {
	switch code[i] {
	case ',', ';':
		return true
	case '\n':
		next := bytes.TrimLeft(code[i:], " \t\r\n")
		return len(next) == 0 || next[0] != '?' && next[0] != ':'
	case '=':
		return strings.IndexByte("=!<>", code[i-1]) < 0 && code[i+1] != '='
	}
	return false
}
