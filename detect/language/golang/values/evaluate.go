package values

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// maxConstant is how many bytes an address or a part of one has at most. Host names have up to 253 (RFC 1035). Without
// a bound, declarations that join each other would make texts of any length.
const maxConstant = 400

// hugeWidth is a width in a format that makes a long text of a short one: "%999999s" makes a million bytes.
var hugeWidth = lazyregexp.New(`%[^%A-Za-z]*\d{3}`)

// evaluate returns the values that an expression may have, if the sources state them: by literals, constants,
// variables, defaults, and by what + and a few functions of the standard library make of these. It returns unknown for
// what they do not state, and none for what no program evaluates, such as the parameter of a function that nothing
// calls, or for an expression that is being evaluated already: port = cmp.Or(port, 8080).
func (s *Sources) evaluate(x expression, nesting int) []value {
	if x.constant != nil {
		return s.orGiven([]value{*x.constant}, cmp.Or(x.setting, x.constant.setting), x.in)
	}
	if s.spend(nesting) {
		return unknown
	}
	at := evaluation{x.Expr, x.call, x.result}
	if s.evaluating[at] {
		return nil
	}
	s.evaluating[at] = true
	defer delete(s.evaluating, at)
	return s.orGiven(s.evaluateExpression(x, nesting), x.setting, x.in)
}

// evaluateExpression is evaluate for an expression that is not being evaluated.
func (s *Sources) evaluateExpression(x expression, nesting int) []value {
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.BasicLit:
		return literal(x, e)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return s.join("%s%s", []expression{x.with(e.X), x.with(e.Y)}, nesting)
		}
		return unknown
	case *ast.SliceExpr: // address[len("tcp://"):]
		return s.evaluate(x.with(e.X), nesting+1)
	case *ast.TypeAssertExpr:
		return s.evaluate(x.with(e.X), nesting+1)
	case *ast.IndexExpr:
		return s.evaluateIndex(x, e, nesting)
	case *ast.SelectorExpr:
		if x.in.isSystem(e) {
			return []value{{text: system, at: x.place()}}
		}
		if values, ok := s.partOfURL(x, e, nesting); ok {
			return values
		}
		if text, ok := namedIP[x.in.PathOf(e)+"."+e.Sel.Name]; ok {
			return []value{{text: text, at: x.place()}}
		}
	case *ast.Ident:
		if (e.Name == "true" || e.Name == "false") && x.in.Declaration(e) == nil {
			return []value{{text: e.Name, at: x.place()}}
		}
	case *ast.CompositeLit:
		if addresses, ok := s.evaluateTCPAddr(x, e, nesting); ok {
			return addresses
		}
		if name := s.element(x.with(e), "Name"); name.Expr != nil && syntax.LastName(e.Type) == "UnixAddr" {
			return s.evaluate(name, nesting+1)
		}
		return unknown
	case *ast.CallExpr:
		if method, isMethod := e.Fun.(*ast.SelectorExpr); isMethod && len(e.Args) == 0 {
			if values, ok := s.partOfURL(x, method, nesting); ok {
				return values
			}
		}
		if values, ok := s.evaluateIP(x, e, nesting); ok {
			return values
		}
		if values, ok := s.evaluateCall(x, e, nesting); ok {
			return values
		}
	}
	from, ok := s.origins(x, nesting)
	if !ok {
		return unknown
	}
	return s.evaluateAll(from, nesting)
}

// evaluateIndex is evaluate for an element: of the arguments, of a map of the environment, of the parts of a text.
func (s *Sources) evaluateIndex(x expression, e *ast.IndexExpr, nesting int) []value {
	if syntax.Name(e.X) == "os.Args" {
		return s.argument(x, e)
	}
	if environmentMap.MatchString(syntax.LastName(e.X)) {
		if variable := s.variable([]expression{x.with(e.Index)}, nesting); variable != someVariable {
			return s.orGiven([]value{unset(variable, x.place())}, variable, x.in)
		}
	}
	return s.elementOfSplit(x, e, nesting)
}

// evaluation is an expression that is being evaluated, in the call that leads to it.
type evaluation struct {
	ast.Expr
	call   *frame
	result int
}

func literal(x expression, e *ast.BasicLit) []value {
	if text, err := strconv.Unquote(e.Value); err == nil {
		return bounded([]value{{text: text, at: x.place()}})
	}
	if e.Kind == token.INT {
		return bounded([]value{{text: strings.ReplaceAll(e.Value, "_", ""), isNumber: true, at: x.place()}})
	}
	return unknown
}

// evaluateAll returns the values that something may have which gets those of several expressions.
//
// What is not set counts only if nothing else has a value, so that a default counts beside what the environment may
// say. It is no default if it is always overwritten by what is not set or not known, or by an option that the app
// gives. Of two callers of a function, or of two structs of a type, none has the default of the other. What is assigned
// in the case that nothing is set counts only if that may be.
func (s *Sources) evaluateAll(all []expression, nesting int) []value {
	if len(all) > maxOrigins {
		return unknown
	}
	var by [instead + 1][]value
	var values []value
	isOverwritten, isAlternative, count := false, false, 0
	for _, x := range all {
		found := unlike(by[x.gets], s.evaluate(x, nesting+1))
		isZero := len(found) > 0 && !slices.ContainsFunc(found, value.isSet)
		isAlternative = isAlternative || isZero && x.gets == alternatively
		isOverwritten = isOverwritten || isZero && x.gets == always
		by[x.gets] = append(by[x.gets], found...)
		if x.gets == always || x.gets == sometimes {
			values = append(values, found...)
		}
		if count += len(found); count > maxValues {
			return unknown
		}
	}
	if len(by[instead]) > 0 {
		return by[instead]
	}
	if isAlternative && slices.ContainsFunc(by[alternatively], value.isSet) {
		by[alternatively] = unknown
	}
	given := by[always]
	if !isOverwritten {
		values = slices.Concat(by[initially], by[alternatively], values)
		given = slices.Concat(by[initially], by[alternatively], given)
	}
	if !slices.ContainsFunc(given, value.isSet) || slices.ContainsFunc(given, value.isUnknown) {
		values = append(values, by[otherwise]...)
	}
	return withoutZeros(values)
}

// unlike returns the values that are not among others, wherever they are written: programs of an app that have the same
// flag give a function one value, however many there are. What is not set is always returned.
func unlike(others, values []value) []value {
	return slices.DeleteFunc(slices.Clone(values), func(v value) bool {
		return v.isSet() && slices.ContainsFunc(others, func(other value) bool {
			other.at = v.at
			return other == v
		})
	})
}

// withoutZeros returns values without those that stand for what is not set, unless all do. Their settings may replace
// the others.
func withoutZeros(values []value) []value {
	if !slices.ContainsFunc(values, value.isSet) {
		return values
	}
	setting := ""
	for _, v := range values {
		if !v.isSet() {
			setting = either(setting, v.setting)
		}
	}
	return replaceable(slices.DeleteFunc(values, func(v value) bool { return !v.isSet() }), setting)
}

// writtenPort is a port at the end of a format.
var writtenPort = lazyregexp.New(`:\d{1,5}$`)

// join returns what a format makes of the values of its parts, of which one has to be known if the format itself has no
// port. Of two numbers it makes the sum.
func (s *Sources) join(format string, parts []expression, nesting int) []value {
	combinations := [][]value{nil}
	known := writtenPort.MatchString(format)
	for _, part := range parts {
		values := s.evaluate(part, nesting+1)
		if len(values) == 0 {
			values = unknown
		}
		known = known || slices.ContainsFunc(values, func(v value) bool { return !v.isUnknown() })
		var longer [][]value
		for _, c := range combinations {
			for _, v := range values {
				longer = append(longer, append(slices.Clip(c), v))
			}
		}
		if combinations = longer; len(combinations) > maxValues {
			return unknown
		}
	}
	if !known {
		return unknown
	}
	var made []value
	for _, c := range combinations {
		if isSum := format == "%s%s" && (c[0].isNumber || c[1].isNumber); isSum {
			sum := add(c[0], c[1])
			if sum.isUnknown() {
				return unknown
			}
			made = append(made, sum)
			continue
		}
		made = append(made, formatted(format, c))
	}
	return bounded(made)
}

// add returns the sum of two numbers. It is written where the first one is.
func add(a, b value) value {
	x, errX := strconv.Atoi(a.text)
	y, errY := strconv.Atoi(b.text)
	sum := value{text: unknownPart, isNumber: true, at: a.at, setting: either(a.setting, b.setting)}
	if errX == nil && errY == nil {
		sum.text = strconv.Itoa(x + y)
	}
	if strings.HasPrefix(sum.setting, "$") { // the variable has another value
		sum.setting = "a setting"
	}
	return sum
}

// formatted formats values. What is made is written where the last part with a digit is. Each format has a part.
func formatted(format string, parts []value) value {
	made, isReplaceable := value{at: parts[len(parts)-1].at}, false
	texts := make([]any, len(parts))
	for i, part := range parts {
		texts[i] = part.text
		if strings.ContainsAny(part.text, "0123456789") {
			made.at = part.at
		}
		isReplaceable = isReplaceable || part.setting != ""
		made.isPartial = made.isPartial || part.isPartial || part.text == "" && part.setting != ""
	}
	// What replaces the host of an address does not replace its port.
	if made.setting = parts[len(parts)-1].setting; isReplaceable && made.setting == "" {
		made.setting = "a setting"
	}
	made.text = fmt.Sprintf(format, texts...)
	return made
}

// bounded returns values, or unknown if one of them is too long.
func bounded(values []value) []value {
	if slices.ContainsFunc(values, func(v value) bool { return len(v.text) > maxConstant }) {
		return unknown
	}
	return values
}
