package address

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// environment matches how languages ask for an environment variable, whose name is in one of the groups:
// os.environ.get("PORT"), ENV.fetch("PORT"), env::var("PORT"), System.getenv().get("PORT"), $_ENV['PORT'], lookupEnv
// "PORT", env = "PORT", process.env.PORT; and the settings that NestJS's ConfigService, Python's decouple and .NET's
// configuration take from it, which are in capitals: config.get<number>('PORT'), config("PORT"), Configuration["PORT"].
var environment = lazyregexp.New(`(?i:\b\w*env(?:iron(?:ment)?|y)?(?:variable)?[!?]?)` +
	`(?:(?:\s*\.\s*|::|->)\w+[!?]?|\(\s*\))*\s*(?:[(\[{]|=\s)?\s*["']([A-Za-z_]\w*)["']|` +
	`\b(?i:env)\.([A-Z_][A-Z0-9_]*)\b|` +
	`\b(?:(?i:\w*config(?:service)?)(?:\.get\w*)?(?:<[^()]*>)?\(|` +
	`_?[cC]onfig(?:uration)?\.Get\w+(?:<[^()]*>)?\(|Configuration\.?[\[(])\s*["']([A-Z][A-Z0-9_]*)["']`)

// addressVariable is a question to the environment for a whole address, whose default is one: GRPC_BIND ||
// "[::]:50051".
var addressVariable = lazyregexp.New(`^(?:[\w.]*\()?(?:\w+\.)*(?:` + environment.String() + `)` +
	`(?:\s+as\s+\w+)?["'\])]*\s*` +
	"(?:\\|\\||\\?\\?|\\bor\\b|,)\\s*[\"'`][^\"'`${}]*:\\d+[\"'`]\\)*$")

// variableOf returns the environment variable that an expression asks for a whole address, "" for none.
func variableOf(code []byte) string {
	if m := addressVariable.FindSubmatch(bytes.TrimSpace(code)); m != nil {
		return string(m[1]) + string(m[2]) + string(m[3])
	}
	return ""
}

// Variables returns the names of the environment variables that code asks for.
func Variables(code []byte) []string {
	var names []string
	for _, m := range environment.FindAllSubmatch(code, maxDeclarations) {
		names = append(names, string(m[1])+string(m[2])+string(m[3]))
	}
	return names
}

// variableNames match the names of environment variables that hold an address, the surest first.
var variableNames = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)port$`), lazyregexp.New(`(?i)port|addr|listen|bind|endpoint|url|uri`),
}

// isVariable reports whether a key is the name of an environment variable with an address.
func isVariable(key string) bool {
	return strings.ToUpper(key) == key && variableNames[1].MatchString(key)
}

// oneVariable returns the environment variable that an address comes from, "" if none of those that are asked is known
// to have it.
func oneVariable(asked []string) string {
	for _, pattern := range variableNames {
		var named []string
		for _, name := range asked {
			if pattern.MatchString(name) && !slices.Contains(named, name) {
				named = append(named, name)
			}
		}
		if len(named) == 1 {
			return named[0]
		}
		if len(named) > 1 {
			return ""
		}
	}
	return ""
}

// Renamed returns the value with other names for the environment variables that give it.
func (v Value) Renamed(name func(variable string) string) Value {
	if before := v.Variable; before != "" {
		v.Variable = name(before)
		v.Names = slices.DeleteFunc(slices.Clone(v.Names), func(n Name) bool { return n.Path == ofEnvironment(before) })
		v.ofEnvironment()
	}
	v.Givers = slices.Clone(v.Givers)
	for i, giver := range v.Givers {
		if variable, ok := strings.CutPrefix(giver, VariableGiver("")); ok {
			v.Givers[i] = VariableGiver(name(variable))
		}
	}
	return v
}

// Decider names what decides the value of an expression when the app runs, as plan.Security has it: an environment
// variable, or a setting that is read by a key. It is "" if that is not known, or if there are several.
func (d *Names) Decider(s source.Span) string {
	if only := d.deciderIn(s); only != "" {
		return only
	}
	if choice := bytes.IndexByte(d.Code[s.From:s.To], '?'); choice > 0 {
		return d.deciderIn(source.Span{From: s.From, To: s.From + choice})
	}
	return ""
}

// OnlyDecider returns the one thing that decides the values of expressions, as [Names.Decider] names it, "" if none is
// known.
func (d *Names) OnlyDecider(spans []source.Span) string {
	only := ""
	for _, s := range spans {
		switch one := d.Decider(s); {
		case one == "" || one == only:
		case only != "":
			return ""
		default:
			only = one
		}
	}
	return only
}

func (d *Names) deciderIn(s source.Span) string {
	e := d.evaluated(d.expression(s))
	deciders := map[string]bool{}
	for _, v := range e.variables {
		deciders["$"+v] = true
	}
	for _, u := range e.before {
		if key, ok := strings.CutPrefix(u.Path, ".["); ok {
			deciders[decider(strings.TrimSuffix(key, "]"))] = true
		}
	}
	if len(deciders) != 1 {
		return ""
	}
	for only := range deciders {
		return only
	}
	return ""
}

// decider names a key that is read: a placeholder's may be an environment variable.
func decider(key string) string {
	if environmentName.MatchString(key) {
		return "$" + key
	}
	return "the setting " + key
}

var environmentName = source.Exactly(`[A-Z][A-Z0-9]*_[A-Z0-9_]+`)
