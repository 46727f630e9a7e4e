package address

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// defaults looks for what goes before the addresses of an expression: names whose default they are.
func (e *evaluation) defaults(x expression) {
	e.unclear = e.unclear || stringBefore.Match(x.code)
	for _, m := range dottedName.FindAllIndex(x.code, -1) {
		if operator := hasDefault.FindIndex(x.code[m[1]:]); operator != nil {
			e.defaultOf(x, m, m[1]+operator[1])
		}
	}
	if bytes.Contains(x.code, []byte("rElse")) {
		for _, m := range optionalDefault.FindAllSubmatchIndex(x.code, -1) {
			name := m[2:4]
			if m[4] >= 0 {
				name = m[4:6]
			}
			e.defaultOf(x, name, m[1])
		}
	}
	if bytes.Contains(x.code, []byte("unwrap_or")) {
		e.unwrapped(x)
	}
	for _, m := range alternative.FindAllSubmatchIndex(x.code, -1) {
		if optionalEnd.Match(x.code[m[1]:]) {
			e.defaultOf(x, []int{m[2], m[2] + len(receiver(x.code, m[2:4]))}, m[1])
		}
	}
}

// receiver returns the dotted name in a span of code, without the method if it is the call of one.
func receiver(code []byte, span []int) []byte {
	name := code[span[0]:span[1]]
	if dot := bytes.LastIndexByte(name, '.'); dot > 0 && bytes.HasPrefix(code[span[1]:], []byte("(")) {
		return bytes.TrimSpace(name[:dot])
	}
	return name
}

// unwrapped looks for the defaults of optional values of Rust. That of a host is none of a port.
func (e *evaluation) unwrapped(x expression) {
	for _, m := range unwrapDefault.FindAllSubmatchIndex(x.code, -1) {
		name := receiver(x.code, m[2:4])
		if portName.Match(name) || !hostGiver.Match(name) {
			e.defaultOf(x, []int{m[2], m[2] + len(name)}, m[1])
		}
	}
}

// defaultOf adds the name in a span, whose default begins at an offset.
func (e *evaluation) defaultOf(x expression, name []int, at int) {
	if isPart := name[0] > 0 && strings.IndexByte(".:>", x.code[name[0]-1]) >= 0; isPart {
		return
	}
	u := x.nameAt(name)
	u.Path = fieldOf(u.Dotted)
	e.before = append(e.before, u)
	before := len(e.givers)
	e.givenBy(fieldOf(u.Dotted))
	for _, v := range e.visible(u.Dotted, u.At) {
		e.variables = append(e.variables, Variables(v.raw)...)
		e.givenIn(v)
	}
	e.standAt(before, x.at+name[0])
	// What is asked may be an argument: Number(process.env.PORT) || 50051.
	isOption := e.isOption(u) && !getter.Match(x.code[name[0]:at])
	e.unclear = e.unclear || !outside.Match(x.raw[name[0]:at]) && !isOption
}

// isOption reports whether a name whose default follows is an environment variable, a flag or an option: what is
// reached as a field of something that is called so, or what the text declares with one. Of anything else it is not
// known whether it ever lacks a value.
func (e *evaluation) isOption(u Use) bool {
	asksOutside := func(v expression) bool { return v.isOption || outside.Match(v.raw) || optionsName.Match(v.code) }
	return optionsName.MatchString(u.Dotted) || slices.ContainsFunc(e.visible(Path(u.Dotted), u.At), asksOutside)
}

// optionsName matches a field of something that people call options or settings.
var optionsName = lazyregexp.New(
	`(?i)(?:opt(?:ion)?s?|conf(?:ig(?:uration)?)?s?|cfg|settings?|arg(?:ument)?s|argv|flags|params|props|env)\w*` +
		`(?:\(\))?(?:\.|::|->)\w`)

// conditional is an expression with two branches: condition ? first : second, first if condition else second.
var conditional = lazyregexp.New(`(?s)^(?P<condition>.*?)\s\?\s(?P<first>.+?)\s:\s(?P<second>.+)$|` +
	`^(?P<first>.+?)\sif\s(?P<condition>.+?)\selse\s(?P<second>.+)$`)

// Branches returns the condition and the two branches of a conditional expression, and whether the code is one.
func Branches(code []byte) (condition, first, second source.Span, ok bool) {
	m := conditional.FindSubmatchIndex(code)
	if m == nil {
		return condition, first, second, false
	}
	for i, group := range conditional.SubexpNames() {
		span := source.Span{From: m[2*i], To: m[2*i+1]}
		switch {
		case span.From < 0:
		case group == "condition":
			condition = span
		case group == "first":
			first = span
		case group == "second":
			second = span
		}
	}
	return condition, first, second, true
}

// branches evaluates the branches of a conditional expression, and reports whether it is one. Both have to state an
// address, or to ask the environment.
func (e *evaluation) branches(x expression) bool {
	condition, first, second, ok := Branches(x.code)
	if !ok {
		return false
	}
	asks := e.asks(x.part(condition))
	for _, s := range []source.Span{first, second} {
		e.branch(x.part(s), asks)
	}
	return true
}

// part returns a part of an expression.
func (x expression) part(s source.Span) expression {
	return expression{raw: x.raw[s.From:s.To], code: x.code[s.From:s.To], at: x.at + s.From}
}

// asks reports whether an expression asks the environment or for options.
func (e *evaluation) asks(x expression) bool {
	if outside.Match(x.raw) {
		return true
	}
	asks := false
	for _, m := range dottedName.FindAllIndex(x.code, -1) {
		u := x.nameAt(m)
		for _, v := range e.visible(Path(u.Dotted), u.At) {
			e.variables = append(e.variables, Variables(v.raw)...)
		}
		asks = asks || e.isOption(u)
	}
	return asks
}

// branch evaluates one branch. What an option gives has the other one for its default if the condition asks for
// options.
func (e *evaluation) branch(x expression, conditionAsks bool) {
	before, asked := len(e.found)+len(e.sockets), e.outside
	e.outside = false
	e.evaluate(x)
	if len(e.found)+len(e.sockets) == before {
		e.outside = e.outside || optionsName.Match(x.code)
		e.unclear = e.unclear || !e.outside || !conditionAsks
	}
	e.outside = e.outside || asked
}

// hasDefault follows a name that goes before what is after the operator.
var hasDefault = lazyregexp.New(`^(?:\([^()]*\))?\s*(?:\|\||\?\?|\?:|\bor\b)`)

// optionalDefault is an optional value of the JVM with a default, up to this: name.orElse(8080),
// Optional.ofNullable(name).map(Integer::parseInt).orElse(8080), name.get(key).map(_.toInt).getOrElse(8080).
var optionalDefault = lazyregexp.New(
	`(?:\b(?:Optional\s*\.\s*of(?:Nullable)?|Option)\s*\(\s*` + asked + `\s*\)|` + asked + `)` +
		`(?:\s*\.\s*map\w*\s*\((?:[^()]|\([^()]*\))*\))*` +
		`\s*\.\s*(?:orElse(?:Get)?\s*\(|getOrElse\s*\(\s*[^"\s])`)

// unwrapDefault is an optional value of Rust with a default, up to this: port.unwrap_or(8080),
// config.port.clone().map(|p| p + 1).unwrap_or_else(|| 8080).
var unwrapDefault = lazyregexp.New(
	`((?:\w+::)*[A-Za-z_]\w*(?:\s*\.\s*\w+)*)` +
		`(?:(?:\s*\.\s*\w+)?(?:::<[^<>]*>)?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\s*\.\s*\w+|\?)*?` +
		`\s*\.\s*unwrap_or(?:_else)?\s*\(\s*(?:\|\w*\|)?`)

// alternative is a further optional value, before the default that optionalEnd begins: .or(other), .or_else(|| other),
// .orElse(other), .or(() -> Optional.ofNullable(other)).
var (
	alternative = lazyregexp.New(`\.\s*or(?:_else|Else)?\s*\(\s*(?:\|\||\(\)\s*[-=]>)?\s*` +
		`(?:(?:Optional\s*\.\s*of(?:Nullable)?|Option|Some)\s*\(\s*)?([A-Za-z_]\w*(?:\s*\.\s*\w+)*)`)
	optionalEnd = lazyregexp.New(`\.\s*(?:unwrap_or|getOrElse|orElse)`)
)

// getter asks an object of the app's own, whose class says what it lacks.
var getter = lazyregexp.New(`^[\w.]+\.get[A-Z]\w*\(\)`)

// asked is a name that is asked for a value, or called.
const asked = `([A-Za-z_]\w*(?:\s*\.\s*\w+)*?)(?:\([^()]*\))?`

// stringBefore follows a string, or a sum that begins with one, which never lacks a value: "0.0.0.0:" + port binds more
// closely than the operator, and even `${process.env.PORT}` is a string if nothing is set.
var stringBefore = lazyregexp.New("[\"'`]" +
	`\s*(?:[+.]\s*[\w$.]+(?:[(\[][^()\[\]]*[)\]])?\s*)?(?:\|\||\?\?|\?:|\bor\b)`)

// outside is in an expression that asks the environment, the command line, or options.
var outside = lazyregexp.New(`(?i)\b\w*(?:env|environ|environment|args?|argv|options?|flags?|getenv)\b|` +
	`\bdotenvy\b|FLAGS_|\bdefault_value`)
