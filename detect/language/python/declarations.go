package python

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	assignment = regexp.MustCompile(
		`(?m)^[ \t]*(?P<statement>)(?:self\.|cls\.)?(?P<name>[A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\], ]+)?=[ \t]*`)
	// loop is a loop over the elements of a list.
	loop = regexp.MustCompile(`\bfor[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+in[ \t]+` +
		`(?:(?P<list>[A-Za-z_]\w*)[ \t]*[:\])]|[\[(])`)
	// assignmentInCode is one in an expression: if port := os.environ.get("PORT").
	assignmentInCode = regexp.MustCompile(`\b(?P<name>[A-Za-z_]\w*)[ \t]*:=[ \t]*`)
)

// readDeclarations returns the values of the variables of a source, which is that of a module, of the fields of its
// classes, of the options of its command line, and of parameters: the arguments that they are given in this source, and
// their defaults.
func readDeclarations(t *source.Text, module string, functions []function) *address.Names {
	d := address.Read(t, "\n", assignment, assignmentInCode)
	for _, f := range append(classFields(t), readOptions(t)...) {
		d.DeclareValue(f)
	}
	if listenKeys.In(t.Raw) {
		d.DeclareElements(elements)
	}
	d.DeclareLoops(loop)
	for _, f := range functions {
		f.declare(d, module)
	}
	declareReturns(d, functions)
	return d
}

var (
	elements = address.Elements{
		Read: regexp.MustCompile(`\b(?P<key>[A-Za-z_]\w*)(?:\[["'](?P<key2> *)["']\]|` +
			`\.get\(["'](?P<key3> *)["'](?:\s*,\s*(?P<default>))?)`),
		Literal:    regexp.MustCompile(`(?m)^[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\], ]+)?=[ \t]*\{`),
		Key:        regexp.MustCompile(`^["'](?P<key> *)["']\s*:\s*`),
		Assignment: regexp.MustCompile(`(?m)^[ \t]*(?P<name>[A-Za-z_]\w*)\[["'](?P<key> *)["']\][ \t]*=[ \t]*`),
	}
	// listenKeys are the ends of keys that say where something listens.
	listenKeys = source.NewKeywords(`port"`, `port'`, `PORT"`, `PORT'`, `addr"`, `addr'`, `ADDR"`, `ADDR'`,
		`ddress"`, `ddress'`, `DDRESS"`, `DDRESS'`, `bind"`, `bind'`, `listen"`, `listen'`, `ndpoint"`, `ndpoint'`)
)

var (
	returnStatement = regexp.MustCompile(`(?m)^[ \t]+return[ \t]+`)
	// credentialsFunction is the name of a function that returns credentials.
	credentialsFunction = regexp.MustCompile(`(?i)cred|ssl|tls|secur`)
)

// tellsName reports whether a function has a name that says that it returns an address, or credentials.
func tellsName(name string) bool {
	return listenName.MatchString(name) || credentialsFunction.MatchString(name)
}

// declareReturns declares what the functions return, whose heads are given, that return one expression, and else None
// at most, or credentials.
func declareReturns(d *address.Names, functions []function) {
	if !slices.ContainsFunc(functions, func(f function) bool { return tellsName(f.name) }) {
		return
	}
	returned := map[int][]source.Span{}
	for _, m := range d.FindAll(returnStatement, maxFunctions) {
		value := d.Trim(source.Span{From: m[1], To: d.Until(m[1], "\n")})
		if i := around(functions, d.Text, m[1]); i >= 0 && d.Slice(value) != "None" {
			returned[i] = append(returned[i], value)
		}
	}
	for i, values := range returned {
		name := functions[i].name
		if !tellsName(name) || len(values) > 1 && !credentialsFunction.MatchString(name) {
			continue
		}
		for _, v := range values {
			d.DeclareFunction(name, v)
		}
	}
}

// listenName matches the names of parameters, constants and fields that say where something listens.
var listenName = regexp.MustCompile(`(?i)port|addr|bind|listen|endpoint|url`)

var (
	// variablePrefix is the prefix of the environment variables of a class of settings.
	variablePrefix = regexp.MustCompile(`\benv_prefix["']?\s*[=:]\s*["'](\w*)["']`)

	// settingsAlias is the name of the environment variable of one setting, without the prefix.
	settingsAlias = regexp.MustCompile(`\b(?:env|alias|validation_alias)\s*=\s*["'](\w+)["']`)

	classHead = regexp.MustCompile(`^[ \t]*class[ \t]`)
	// fieldLine is a field with or without a value: a class of settings may get the value from the environment.
	fieldLine = regexp.MustCompile(`^[ \t]+([A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\]|, ]+)?(?:=[ \t]*|\r?$)`)
)

// classFields returns the fields of the classes of a source, such as those of pydantic's settings and of dataclasses.
// The value of one without a default is empty. The settings are environment variables, with a prefix that the class may
// state (pydantic-settings, pydantic_settings/sources/providers/env.py).
func classFields(t *source.Text) []address.NamedValue {
	var fields []address.NamedValue
	isSettings := false
	prefix, isPrefixed := settingsPrefix(t)
	inClass, classIndent, bodyIndent, at := false, 0, -1, 0
	for line := range strings.SplitSeq(string(t.Code), "\n") {
		from := at
		at += len(line) + 1
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		switch {
		case strings.TrimSpace(line) == "":
		case classHead.MatchString(line):
			inClass, classIndent, bodyIndent = true, indent, -1
			isSettings = strings.Contains(line, "BaseSettings")
		case inClass && indent <= classIndent && !strings.HasPrefix(strings.TrimSpace(line), ")"):
			inClass = false
		case inClass && (bodyIndent < 0 || indent == bodyIndent):
			bodyIndent = indent
			m := fieldLine.FindStringSubmatchIndex(line)
			if m == nil || !listenName.MatchString(line[m[2]:m[3]]) || m[1] < len(line) && line[m[1]] == '=' {
				continue
			}
			f := address.NamedValue{
				Name: "." + line[m[2]:m[3]], Value: source.Span{From: from + m[1], To: t.Until(from+m[1], "\n")},
				IsOption: isSettings,
			}
			switch alias := settingsAlias.FindSubmatch(t.Raw[f.Value.From:f.Value.To]); {
			case isSettings && alias != nil:
				f.Variable = string(alias[1])
			case isSettings && isPrefixed:
				f.Variable = strings.ToUpper(prefix + line[m[2]:m[3]])
			}
			fields = append(fields, f)
		}
	}
	return fields
}

// settingsPrefix returns the prefix of the environment variables of the settings of a source, and whether it is known.
func settingsPrefix(t *source.Text) (string, bool) {
	m := variablePrefix.FindAllSubmatch(t.Raw, 2)
	switch mentions := bytes.Count(t.Raw, []byte("env_prefix")); {
	case mentions == 0:
		return "", true
	case mentions == 1 && len(m) == 1:
		return string(m[0][1]), true
	}
	return "", false
}
