package values

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	listen "github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// value is the text that an expression may have for its value, and where it is written. A number is returned as text.
type value struct {
	text     string
	isNumber bool
	at       plan.Place
}

// unknownPart stands in a text for a part that is not known, such as a host.
const unknownPart = "\x00"

// maxConstant is how many bytes an address or a part of one has at most. Host names have up to 253 (RFC 1035). Without
// a bound, declarations that join each other would make texts of any length.
const maxConstant = 400

// hugeWidth is a width in a format that makes a long text of a short one: "%999999s" makes a million bytes.
var hugeWidth = regexp.MustCompile(`%[^%A-Za-z]*\d{3}`)

// Port returns the port of an address that an expression of a source states, and where it is written. The port is
// listen.UnknownPort where the expression states none or several.
func (s *Sources) Port(in *Source, address ast.Expr) (int, plan.Place) {
	s.evaluated = 0
	port, at := listen.UnknownPort, plan.Place{}
	for i, v := range s.evaluate(expression{Expr: address, in: in}, 0) {
		colon := strings.LastIndexByte(v.text, ':')
		if number := v.text[colon+1:]; number == "" || strings.Contains(number, unknownPart) {
			continue // a variable is not set, or not known
		}
		if colon >= 0 && strings.Contains(v.text[:colon], unknownPart) {
			v.text = v.text[colon:]
		}
		number := listen.ParsePort(listen.TrimScheme(v.text))
		if number == listen.UnknownPort || i > 0 && at != (plan.Place{}) && number != port {
			return listen.UnknownPort, plan.Place{}
		}
		if at == (plan.Place{}) {
			port, at = number, v.at
		}
	}
	return port, at
}

// evaluate returns the values that an expression may have, where the sources state them: by literals, constants,
// variables, defaults, and by what + and a few functions of the standard library make of these. Values that are not
// stated are left out, so that a default counts which stands beside what the environment says.
func (s *Sources) evaluate(x expression, nesting int) []value {
	if x.constant != nil {
		return []value{*x.constant}
	}
	if s.spend(nesting) {
		return nil
	}
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return bounded([]value{{text, false, x.place()}})
		}
		if e.Kind == token.INT {
			return bounded([]value{{strings.ReplaceAll(e.Value, "_", ""), true, x.place()}})
		}
		return nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return nil
		}
		return s.join("%s%s", []expression{x.with(e.X), x.with(e.Y)}, nesting)
	case *ast.UnaryExpr:
		if e.Op != token.AND {
			return nil
		}
	case *ast.CompositeLit:
		if port := syntax.Element(e, "Port"); port != nil && syntax.LastName(e.Type) == "TCPAddr" {
			return s.evaluate(x.with(port), nesting+1)
		}
		return nil
	case *ast.CallExpr:
		if values, ok := s.evaluateCall(x, e, nesting); ok {
			return values
		}
	}
	return s.evaluateAll(s.origins(x, nesting), nesting)
}

// evaluateAll returns the values of several expressions. An empty text and the number 0 stand for what is not set, and
// count only where no expression has another value.
func (s *Sources) evaluateAll(all []expression, nesting int) []value {
	if len(all) > maxOrigins {
		return nil
	}
	var values []value
	for _, x := range all {
		values = append(values, s.evaluate(x, nesting+1)...)
		if len(values) > maxValues {
			return nil
		}
	}
	isSet := func(v value) bool { return v.text != "" && v.text != "0" }
	if slices.ContainsFunc(values, isSet) {
		values = slices.DeleteFunc(values, func(v value) bool { return !isSet(v) })
	}
	return values
}

// join returns what a format makes of the values of its parts, of which one has to be known. It is for text: the sum of
// two numbers is not known.
func (s *Sources) join(format string, parts []expression, nesting int) []value {
	combinations := [][]value{nil}
	known := false
	for _, part := range parts {
		values := s.evaluate(part, nesting+1)
		known = known || len(values) > 0
		if len(values) == 0 {
			values = []value{{text: unknownPart}}
		}
		var longer [][]value
		for _, c := range combinations {
			for _, v := range values {
				longer = append(longer, append(slices.Clip(c), v))
			}
		}
		if combinations = longer; len(combinations) > maxValues {
			return nil
		}
	}
	if !known {
		return nil
	}
	var made []value
	for _, c := range combinations {
		isSum := format == "%s%s" && c[0].isNumber && c[1].isNumber
		if !isSum {
			made = append(made, formatted(format, c))
		}
	}
	return bounded(made)
}

// formatted formats values. What is made is written where the last part with a digit is.
func formatted(format string, parts []value) value {
	made := value{}
	texts := make([]any, len(parts))
	for i, part := range parts {
		texts[i] = part.text
		if strings.ContainsAny(part.text, "0123456789") {
			made.at = part.at
		}
	}
	made.text = fmt.Sprintf(format, texts...)
	return made
}

// bounded leaves out values that are too long.
func bounded(values []value) []value {
	return slices.DeleteFunc(values, func(v value) bool { return len(v.text) > maxConstant })
}
