package analyzer

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// securityWord is in the names of variables and options that decide on TLS.
	securityWord = lazyregexp.New(`(?i)tls|ssl|secur|cert|plain|https|encrypt`)
	flagName     = lazyregexp.New(`\bFLAGS_(\w+)`)
	optionName   = lazyregexp.New(`\b[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*`)
)

// Setting returns what decides a condition, for users: the environment variable that it asks for, a flag, or the
// option as the source writes it. It is "" if none has a name that says so.
func Setting(names *address.Names, conditions []source.Span) string {
	var reached []source.Span
	for _, s := range conditions {
		reached = append(reached, names.Reach(s)...)
	}
	for _, name := range names.Variables(reached) {
		if securityWord.MatchString(name) {
			return "$" + name
		}
	}
	for _, s := range reached {
		for _, m := range flagName.FindAllStringSubmatch(names.Slice(s), -1) {
			if securityWord.MatchString(m[1]) {
				return "the flag --" + m[1]
			}
		}
	}
	return option(names, conditions)
}

// option returns the longest name in conditions that says that it is about TLS, without the method that is called.
func option(names *address.Names, conditions []source.Span) string {
	longest := ""
	for _, s := range conditions {
		code := names.Slice(s)
		for _, m := range optionName.FindAllStringIndex(code, -1) {
			name := code[m[0]:m[1]]
			if m[1] < len(code) && code[m[1]] == '(' {
				name = name[:max(0, strings.LastIndexAny(name, ".>:"))]
			}
			if len(name) > len(longest) && securityWord.MatchString(name) {
				longest = name
			}
		}
	}
	return longest
}

// truth is what is known of a condition.
type truth int

const (
	notKnown truth = iota
	isTrue
	isFalse
)

func (t truth) not(negated bool) truth {
	if negated && t != notKnown {
		return isTrue + isFalse - t
	}
	return t
}

// and returns what is known of two conditions together.
func (t truth) and(other truth) truth {
	if t == isFalse || other == isFalse {
		return isFalse
	}
	return min(t, other)
}

func truthOf(b bool) truth { return isFalse.not(b) }

var (
	negation = lazyregexp.New(`^\(*\s*(?:!|not\b)`)
	andWord  = lazyregexp.New(`&&|\band\b`)
	compared = lazyregexp.New(`(?P<operator>[!=]==?)\s*(?:["'](?P<with>[^"']*)["']|(?P<word>[a-zA-Z]+))`)
	oneOf    = lazyregexp.New(
		`\bin\s*[\[({](?P<with>[^\])}]*)[\])}]|[\[(](?P<list>[^\])]*)[\])]\.include`)
	askedWith = lazyregexp.New(`["']\s*,\s*(?:default\s*=\s*|\w+:\s*)?["']?(?P<default>\w*)["']?\s*\)|` +
		`(?:\|\||\?[?:]|\bor\b|\bunwrap_or\()\s*["']?(?P<other>\w+)["']?`)
	falseWord  = lazyregexp.New(`(?i)^(?:|0|false|no|off|none|null|nil|undefined)$`)
	optionRoot = lazyregexp.New(`^(?i:args|argv|opts|options|flags)(?:\.|\[:|->)(?P<name>\w+)`)
	// isPresent asks whether a value is there.
	isPresent = lazyregexp.New(
		`\s*(?:\bis(?:\s+not)?\s+None|[!=]==?\s*(?:null|nil|undefined)|\.(?:nil|present)\?)$`)
	bareName = lazyregexp.New(`^[\w$@.:>\[\]-]+$`)
)

// byDefault returns the setting that decides a condition, and what the condition is if that is not set.
func byDefault(names *address.Names, c address.Condition) (string, truth) {
	raw := strings.TrimSpace(string(names.Raw[c.From:c.To]))
	if strings.HasPrefix(raw, "(") && strings.HasSuffix(raw, ")") {
		raw = raw[1 : len(raw)-1]
	}
	setting, all := "", isTrue
	for _, term := range andWord.Split(raw, -1) {
		of, value := termByDefault(names, strings.TrimSpace(term), c.From)
		setting, all = cmp.Or(setting, of), all.and(value)
	}
	return setting, all.not(c.Negated)
}

// termByDefault is byDefault of a part of a condition without "and". The setting is "" if it is not known.
func termByDefault(names *address.Names, term string, at int) (string, truth) {
	negated := negation.MatchString(term)
	term = strings.TrimSpace(negation.ReplaceAllString(term, ""))
	if variables := address.Variables([]byte(term)); len(variables) > 0 {
		if len(variables) > 1 {
			return "$" + variables[0], notKnown
		}
		return "$" + variables[0], ifUnset(variables[0], term, term).not(negated)
	}
	name := credentialsName.FindString(term)
	values := names.Values(address.Path(strings.TrimPrefix(name, "$")), at)
	setting := ""
	if bare := isPresent.ReplaceAllString(term, ""); bareName.MatchString(bare) {
		setting = bare
	}
	if m := optionRoot.FindStringSubmatch(term); m != nil {
		values = append(values, names.Values("."+m[1], at)...)
		if flag := declaredFlag(names.Raw, m[1]); flag != "" {
			setting = "flag --" + flag
		}
	}
	if len(values) != 1 {
		return setting, notKnown
	}
	value := strings.TrimSpace(string(names.Raw[values[0].From:values[0].To]))
	if variables := address.Variables([]byte(value)); len(variables) > 0 {
		return "$" + variables[0], ifUnset(variables[0], term, value).not(negated)
	}
	if trimmed := strings.Trim(value, `"'`); setting != "" && bareName.MatchString(trimmed+"x") {
		switch {
		case falseWord.MatchString(trimmed):
			return setting, isFalse.not(negated)
		case strings.EqualFold(trimmed, "true"):
			return setting, isTrue.not(negated)
		}
	}
	return setting, notKnown
}

// wordStart is where a word begins in the name of an option, as in server_cert and serverCert.
var wordStart = lazyregexp.New(`_+|(?P<before>[a-z0-9])(?P<hump>[A-Z])`)

// declaredFlag returns a flag of the command line as a source declares it, without its dashes, for the name by which
// the source reads it: server_cert or server-cert for server_cert, tls-cert for tlsCert. It is "" if the source
// declares no such flag, or several.
func declaredFlag(raw []byte, name string) string {
	name = strings.ReplaceAll(strings.Trim(wordStart.ReplaceAllString(name, "${before}-${hump}"), "-"), "-", "[-_]?")
	declared := lazyregexp.New(`(?i)["']--(` + name + `)["'\s=,<\[]|` +
		`\b(?:option|boolean|string)\(\s*["'](` + name + `)["']|` +
		`["']?\b(` + name + `)["']?\s*:\s*\{[^{}]*\btype\s*:\s*["'](?:boolean|string|number)["']`)
	flag := ""
	for _, m := range declared.FindAllSubmatch(raw, maxDeclared) {
		spelling := string(bytes.Join(m[1:], nil))
		if flag != "" && flag != spelling {
			return ""
		}
		flag = spelling
	}
	return flag
}

// maxDeclared is how many declarations of one flag are read.
const maxDeclared = 8

// ifUnset returns what a term is if the variable is not set that it asks, or that the value of its name asks.
func ifUnset(variable, term, value string) truth {
	unset := ""
	if m := askedWith.FindStringSubmatch(value); m != nil {
		unset = cmp.Or(m[1], m[2])
	}
	of := ifSet(unset, term, value)
	if environmentVariable.MatchString(variable) && ifSet("production", term, value) != of {
		return notKnown
	}
	return of
}

// ifSet is [ifUnset] of a variable that is set to a text.
func ifSet(unset, term, value string) truth {
	for _, code := range []string{term, value} {
		if m := compared.FindStringSubmatch(code); m != nil {
			with := cmp.Or(m[2], m[3])
			isSame := strings.EqualFold(unset, with) || unset == "" && falseWord.MatchString(m[3]) && m[3] != ""
			return truthOf((isSame || unset == "" && with == "undefined") == (m[1][0] == '='))
		}
		if m := oneOf.FindStringSubmatch(code); m != nil {
			words := strings.FieldsFunc(m[1]+m[2], func(r rune) bool { return strings.ContainsRune(`"', `, r) })
			return truthOf(slices.Contains(words, unset))
		}
	}
	return truthOf(!falseWord.MatchString(unset))
}
