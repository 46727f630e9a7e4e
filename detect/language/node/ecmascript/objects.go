package ecmascript

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// MaxNesting is how many levels of object literals are read.
const MaxNesting = 5

var (
	// arrowHead is the head of an arrow function. What it returns follows.
	arrowHead = lazyregexp.New(`^(?:async\s+)?(?:\([^(){}]*\)|[\w$]+)\s*(?::[^={}]{0,100})?=>\s*`)
	// callHead is the name of a function that is called, up to the bracket.
	callHead = lazyregexp.New(`^(?:await\s+|new\s+)?[\w$]+(?:\s*\.\s*[\w$]+)*(?:<[\w$.\s,|\[\]]*>)?\(`)
	// propertyHead is the name of a property and its colon.
	propertyHead = lazyregexp.New(`^(?:["'](?P<quoted> *)["']|(?P<name>[\w$]+))\s*:\s*`)
	wholeName    = lazyregexp.New(`^[\w$]+$`)
)

// Property is a property of an object literal: name: value, or the short form of a name alone.
type Property struct {
	Name  string
	Value source.Span
}

// Properties returns the properties of the object literal that opens before an offset.
func (s *Source) Properties(open int) []Property {
	var all []Property
	properties, _ := s.Arguments(open)
	for _, property := range properties {
		code := s.Code[property.From:property.To]
		if m := propertyHead.FindSubmatchIndex(code); m != nil {
			name := source.Span{From: property.From + max(m[2], m[4]), To: property.From + max(m[3], m[5])}
			all = append(all, Property{
				string(s.Raw[name.From:name.To]), source.Span{From: property.From + m[1], To: property.To},
			})
		} else if wholeName.Match(code) {
			all = append(all, Property{string(code), property})
		}
	}
	return all
}

// Property returns the value of the property of an object literal that the pattern matches, with its colon.
func (s *Source) Property(object source.Span, key *lazyregexp.Regexp) (source.Span, bool) {
	m := key.FindIndex(s.Code[object.From:object.To])
	if m == nil {
		return source.Span{}, false
	}
	return s.Element(object.From + m[1]), true
}

// Element returns the span of the argument, or of the element, that begins at an offset.
func (s *Source) Element(from int) source.Span {
	each, _ := s.Arguments(from)
	return each[0]
}

// Object returns the offset after the bracket of the object literal that an expression is, or that the function
// returns which it is, or that is the argument of the call which it is, as in z.object({ ... }).
func (s *Source) Object(value source.Span, depth int) (int, bool) {
	code := s.Code[value.From:value.To]
	if m := arrowHead.FindIndex(code); m != nil {
		value.From += m[1]
		code = code[m[1]:]
		if bytes.HasPrefix(code, []byte("{")) {
			return s.returnedObject(value.From)
		}
	}
	trimmed := bytes.TrimLeft(code, "( \t\r\n")
	at := value.To - len(trimmed)
	if bytes.HasPrefix(trimmed, []byte("{")) {
		return at + 1, true
	}
	m := callHead.FindIndex(trimmed)
	if m == nil || depth > MaxNesting {
		return 0, false
	}
	arguments, _ := s.Arguments(at + m[1])
	for _, a := range arguments {
		if begin := s.Code[a.From:a.To]; bytes.HasPrefix(begin, []byte("{")) || arrowHead.Match(begin) {
			return s.Object(a, depth+MaxNesting)
		}
	}
	return 0, false
}

var returnObject = lazyregexp.New(`\breturn\s*\(?\s*\{`)

// maxBody is how many bytes of the body of a function are searched for the object literal that it returns.
const maxBody = 1000

// returnedObject returns the offset after the bracket of the object that the body of a function returns.
func (s *Source) returnedObject(body int) (int, bool) {
	if m := returnObject.FindIndex(s.Code[body:min(body+maxBody, len(s.Code))]); m != nil {
		return body + m[1], true
	}
	return 0, false
}
