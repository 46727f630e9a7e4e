package node

import (
	"bytes"
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// maxNesting is how many levels of object literals are read.
const maxNesting = 5

var (
	// arrowHead is the head of an arrow function. What it returns follows.
	arrowHead = regexp.MustCompile(`^(?:async\s+)?(?:\([^(){}]*\)|[\w$]+)\s*(?::[^={}]{0,100})?=>\s*`)
	// callHead is the name of a function that is called, up to the bracket.
	callHead = regexp.MustCompile(`^(?:await\s+|new\s+)?[\w$.]+(?:<[\w$.\s,|\[\]]*>)?\(`)
	// propertyHead is the name of a property and its colon.
	propertyHead = regexp.MustCompile(`^(?:["'](?P<quoted> *)["']|(?P<name>[\w$]+))\s*:\s*`)
	wholeName    = regexp.MustCompile(`^[\w$]+$`)
)

// addProperties adds the properties of the object literal that opens before an offset.
func (p *pass) addProperties(name string, open, depth int) {
	properties, _ := p.Arguments(open)
	for _, property := range properties {
		code := p.Code[property.From:property.To]
		if m := propertyHead.FindSubmatchIndex(code); m != nil {
			key := [2]int{max(m[2], m[4]), max(m[3], m[5])}
			p.addSetting(name+"."+string(p.Raw[property.From+key[0]:property.From+key[1]]),
				source.Span{From: property.From + m[1], To: property.To}, depth+1)
		} else if wholeName.Match(code) {
			p.addSetting(name+"."+string(code), property, depth+1)
		}
	}
}

// object returns the offset behind the bracket of the object literal that an expression is, or that the function
// returns which it is, or that is the argument of the call which it is, as in z.object({ ... }).
func (p *pass) object(value source.Span, depth int) (int, bool) {
	code := p.Code[value.From:value.To]
	if m := arrowHead.FindIndex(code); m != nil {
		value.From += m[1]
		code = code[m[1]:]
		if bytes.HasPrefix(code, []byte("{")) {
			return p.returnedObject(value.From)
		}
	}
	trimmed := bytes.TrimLeft(code, "( \t\r\n")
	at := value.To - len(trimmed)
	if bytes.HasPrefix(trimmed, []byte("{")) {
		return at + 1, true
	}
	m := callHead.FindIndex(trimmed)
	if m == nil || depth > maxNesting {
		return 0, false
	}
	arguments, _ := p.Arguments(at + m[1])
	for _, a := range arguments {
		if begin := p.Code[a.From:a.To]; bytes.HasPrefix(begin, []byte("{")) || arrowHead.Match(begin) {
			return p.object(a, depth+maxNesting)
		}
	}
	return 0, false
}

var returnObject = regexp.MustCompile(`\breturn\s*\(?\s*\{`)

// maxBody is how many bytes of the body of a function are searched for the object literal that it returns.
const maxBody = 1000

// returnedObject returns the offset behind the bracket of the object that the body of a function returns.
func (p *pass) returnedObject(body int) (int, bool) {
	if m := returnObject.FindIndex(p.Code[body:min(body+maxBody, len(p.Code))]); m != nil {
		return body + m[1], true
	}
	return 0, false
}
