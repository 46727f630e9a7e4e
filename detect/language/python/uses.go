package python

import (
	"bytes"
	"iter"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// use is how a source uses a name.
type use int

const (
	mentioned use = iota // it is passed on, for example to a helper that registers services
	called               // it is a function that is called or a class of which an instance is made
	inherited            // it is a base of a class
)

var (
	classBases = lazyregexp.New(`^class[ \t]+\w+[ \t]*\(`)
	// definedBefore matches what stands before a name that is defined and not used.
	definedBefore = lazyregexp.New(`\b(def|class)[ \t]+$`)
)

const (
	// maxSpace is how many bytes a call's opening bracket may be away from its name.
	maxSpace = 16
	// maxDefine is how many bytes before a name "def" or "class" is looked for.
	maxDefine = 8
)

// findUses returns what the uses of names in a source prove.
func findUses(t *source.Text, i imports) []finding.Finding {
	var found []finding.Finding
	code, classes := i.rest.Code, baseLists(i.rest)
	for at := range dottedNames(code) {
		for len(classes) > 1 && classes[1].From <= at.From {
			classes = classes[1:]
		}
		if !i.mayKnow(code[at.From:at.To]) || definedBefore.Match(code[max(0, at.From-maxDefine):at.From]) {
			continue
		}
		how := mentioned
		switch {
		case len(classes) > 0 && classes[0].From <= at.From && at.To <= classes[0].To:
			how = inherited
		case isCalled(code[at.To:]):
			how = called
		}
		proves, full := evidence(i, strings.NewReplacer(" ", "", "\t", "").Replace(i.rest.Slice(at)), how)
		if proves == nil {
			continue
		}
		if f := proves(finding.At(t, at), full); !disablesGRPC(t, f, at.To) {
			found = append(found, f)
		}
	}
	return found
}

// dottedNames yields the names in the code, with their attributes: a, a.b, a . b. A name after a dot belongs to an
// expression that has no name, and one after a digit is part of a number: both are left out. It reads the code by
// hand, since this takes most of the time that a source costs.
func dottedNames(code []byte) iter.Seq[source.Span] {
	return func(yield func(source.Span) bool) {
		for at := 0; at < len(code); {
			if !isNameByte(code[at]) {
				at++
				continue
			}
			span := source.Span{From: at, To: endOfName(code, at)}
			isNumber := code[at] >= '0' && code[at] <= '9'
			afterDot := at > 0 && code[at-1] == '.'
			for !isNumber {
				next := skipBlanks(code, span.To)
				if next == len(code) || code[next] != '.' {
					break
				}
				next = skipBlanks(code, next+1)
				end := endOfName(code, next)
				if end == next || code[next] >= '0' && code[next] <= '9' {
					break
				}
				span.To = end
			}
			at = span.To
			if !isNumber && !afterDot && !yield(span) {
				return
			}
		}
	}
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= '0' && c <= '9'
}

func endOfName(code []byte, at int) int {
	for at < len(code) && isNameByte(code[at]) {
		at++
	}
	return at
}

func skipBlanks(code []byte, at int) int {
	for at < len(code) && (code[at] == ' ' || code[at] == '\t') {
		at++
	}
	return at
}

// isCalled reports whether the code after a name begins with the bracket of a call.
func isCalled(code []byte) bool {
	at := skipBlanks(code[:min(len(code), maxSpace)], 0)
	return at < min(len(code), maxSpace) && code[at] == '('
}

// baseLists returns where the bases of each class are listed, in the order of the source.
func baseLists(t *source.Text) []source.Span {
	var lists []source.Span
	for at := range t.Words("class") {
		if !beginsLine(t.Code, at) {
			continue
		}
		if m := classBases.FindIndex(t.Code[at:min(len(t.Code), at+maxStatement)]); m != nil {
			lists = append(lists, source.Span{From: at + m[1], To: closingParenthesis(t.Code, at+m[1])})
		}
	}
	return lists
}

// disablesGRPC reports whether the arguments of a call say that the server has no gRPC. The name of the function ends
// at the offset. Of all frameworks only KServe has such an argument.
func disablesGRPC(t *source.Text, f finding.Finding, offset int) bool {
	if finding.FrameworkOf(f) != kserve {
		return false
	}
	open := bytes.IndexByte(t.Code[offset:min(len(t.Code), offset+maxSpace)], '(')
	if open < 0 {
		return false
	}
	value, ok := t.Argument(offset+open+1, -1, "enable_grpc")
	return ok && t.Slice(value) == "False"
}
