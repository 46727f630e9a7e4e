package values

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	conversion = source.Exactly(`string|any|u?int(?:8|16|32|64)?`)
	// sameValue are functions whose result is their first argument in another form, or nothing if it is unset.
	sameValue = source.Exactly(`strconv\.(?:Itoa|Atoi|FormatInt|FormatUint|ParseInt|ParseUint)|` +
		`strings\.(?:TrimSpace|Trim|TrimPrefix|TrimSuffix|CutPrefix|CutSuffix)|fmt\.Sprint|os\.ExpandEnv`)
	toText      = source.Exactly(`strconv\.(?:Itoa|FormatInt|FormatUint)|fmt\.Sprint`)
	environment = source.Exactly(`(?:os|syscall)\.(?:Getenv|LookupEnv)|flag\.Arg`)
	// environmentMap are the names of maps with all environment variables.
	environmentMap = source.Exactly(`(?i)(?:os)?env(?:iron(?:ment)?|vars?)?`)
	// settingsLibrary has a method Get, which returns the value of a setting whatever its type is.
	settingsLibrary = source.Exactly(`github\.com/(?:spf13/viper|knadh/koanf)(?:/v\d+)?`)
	// filePath are functions whose result is the path of a file: of a socket, if it is an address.
	filePath = source.Exactly(`(?:path|path/filepath)\.\w+`)
	// getter is a method that returns a flag or a setting of a name: those of cobra, viper, koanf and urfave/cli.
	getter = source.Exactly(`(?:Get)?(?:String|Bool|Int|Int16|Int32|Int64|Uint|Uint16|Uint32|Uint64|IP)`)
	// withFallback is a function of others that takes the name of a variable and a value for the case that it is not
	// set.
	withFallback = lazyregexp.New(`(?i)env|default|fallback|lookup`)
)

// ownName stands for the name of the machine, which is the host of one of its interfaces.
const ownName = "hostname"

// evaluateCall returns the values that a call may have of a function which is not the app's. It reports whether it
// knows the function.
func (s *Sources) evaluateCall(x expression, call *ast.CallExpr, nesting int) ([]value, bool) {
	args := make([]expression, len(call.Args))
	for i, arg := range call.Args {
		args[i] = x.with(arg)
	}
	fun := syntax.Called(call)
	if id, ok := fun.(*ast.Ident); ok && len(args) == 1 && s.isConversion(x, id) {
		return s.evaluate(args[0], nesting+1), true
	}
	qualified := syntax.Name(fun)
	if importPath := x.in.PathOf(fun); importPath != "" {
		qualified = importPath + "." + syntax.LastName(fun)
	}
	switch {
	case len(args) > 0 && sameValue.MatchString(qualified):
		return s.converted(args[0], toText.MatchString(qualified), nesting), true
	case environment.MatchString(qualified), s.isEnvironment(x.with(fun), nesting):
		variable := s.variable(args, nesting)
		if variable == someVariable && qualified != "flag.Arg" {
			return unknown, true // nobody knows what to set, or whether it is
		}
		return s.orGiven([]value{unset(variable, x.place())}, variable, x.in), true
	case qualified == "net.SplitHostPort" && len(args) == 1:
		return s.split(args[0], x.result, nesting), true
	case filePath.MatchString(qualified), isListening(fun):
		return nil, true
	case qualified == "strings.Cut" && len(args) == 2 && x.result < 2:
		return s.partOf(args[0], args[1], x.result, nesting), true
	case qualified == "os.Hostname" && x.result == 0:
		return []value{{text: ownName, at: x.place()}}, true
	case qualified == "cmp.Or":
		return s.evaluateAll(args, nesting), true
	case qualified == "net.JoinHostPort" && len(args) == 2:
		return s.joinHostPort(args, nesting), true
	case (qualified == "net.ResolveTCPAddr" || qualified == "net.ResolveUnixAddr") && len(args) == 2:
		return s.evaluate(args[1], nesting+1), true
	case qualified == "fmt.Sprintf" && len(args) > 0:
		return s.evaluateFormat(args, nesting), true
	}
	return s.evaluateSetting(x, call, args, nesting)
}

// isEnvironment reports whether a function that is called is a parameter which always gets os.Getenv or os.LookupEnv:
// func load(lookup func(string) string).
func (s *Sources) isEnvironment(fun expression, nesting int) bool {
	name, ok := fun.Expr.(*ast.Ident)
	if !ok || fun.in.Local(name) == nil || s.spend(nesting) {
		return false
	}
	from, ok := s.origins(fun, nesting+1)
	isOther := func(f expression) bool {
		return f.in == nil || !environment.MatchString(f.in.PathOf(f.Expr)+"."+syntax.LastName(f.Expr)) &&
			!s.isEnvironment(f, nesting+1)
	}
	return ok && len(from) > 0 && !slices.ContainsFunc(from, isOther)
}

// converted returns the values of an expression in another form. The text of a number is none: + joins it with others.
func (s *Sources) converted(x expression, isText bool, nesting int) []value {
	return asText(s.evaluate(x, nesting+1), isText)
}

func asText(values []value, isText bool) []value {
	if !isText {
		return values
	}
	values = slices.Clone(values)
	for i := range values {
		values[i].isNumber = false
	}
	return values
}

// isListening reports whether a method returns the address that a listener has got: lis.Addr().String().
func isListening(fun ast.Expr) bool {
	method, ok := fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "String" {
		return false
	}
	of, ok := ast.Unparen(method.X).(*ast.CallExpr)
	return ok && syntax.LastName(of.Fun) == "Addr" && len(of.Args) == 0
}

// isConversion reports whether a name that is called is that of a type.
func (s *Sources) isConversion(x expression, name *ast.Ident) bool {
	of := symbol{x.in.dir, name.Name}
	_, isType := s.types[of]
	return x.in.Local(name) == nil && (conversion.MatchString(name.Name) || isType && len(s.values[of]) == 0)
}

// split returns the host or the port of an address.
func (s *Sources) split(address expression, result, nesting int) []value {
	var parts []value
	for _, v := range s.evaluate(address, nesting+1) {
		if colon := strings.LastIndexByte(v.text, ':'); colon >= 0 && result == 0 {
			v.text = v.text[:colon]
		} else if result == 1 {
			v.text = v.text[colon+1:]
		}
		parts = append(parts, v)
	}
	return parts
}

// evaluateFormat returns what fmt.Sprintf makes of up to six arguments.
func (s *Sources) evaluateFormat(args []expression, nesting int) []value {
	var made []value
	for _, format := range s.evaluate(args[0], nesting+1) {
		if hugeWidth.MatchString(format.text) || format.isUnknown() || len(args) > 7 {
			return unknown
		}
		text := strings.NewReplacer("%d", "%s", "%v", "%s").Replace(format.text)
		if len(args) == 1 {
			made = append(made, format)
			continue
		}
		for _, v := range s.join(text, args[1:], nesting) {
			if v.at.Path == "" {
				v.at = format.at
			}
			made = append(made, v)
		}
	}
	return made
}

// evaluateSetting returns the default of a flag or of a setting that a call defines or asks for.
func (s *Sources) evaluateSetting(x expression, call *ast.CallExpr, args []expression, nesting int) ([]value, bool) {
	fun := syntax.Called(call)
	name := syntax.LastName(fun)
	if at, ok := defaultIndex(name, len(args)); ok && !strings.Contains(name, "Var") {
		return s.orGiven(s.evaluate(args[at], nesting+1), s.flagOrVariable(args[0], nesting), x.in), true
	}
	if len(args) == 0 {
		if chained := chainedFlag(call); chained.value != nil && flagTypes[name] {
			return s.orGiven(s.evaluate(x.with(chained.value), nesting+1), s.settingOfChained(chained, x), x.in), true
		}
		return nil, false
	}
	key, isKey := s.text(args[0], nesting)
	switch {
	case !isKey && len(args) == 1, s.callee(x, nesting) != nil:
		return nil, false
	case len(args) == 1 && (getter.MatchString(name) || name == "Lookup" ||
		name == "Get" && x.in.Imports.AnyMatches(settingsLibrary)):
		if flag, ok := s.givenFlag(key, x.in.dir, nesting); ok {
			return []value{flag}, true
		}
		set := nearest(s.ofProgram(append(slices.Clip(s.settingOf(key, x.in.dir)), s.flags[key]...)), x.in.dir)
		setting := s.settingOrVariable(key, x.in.dir)
		if len(set) == 0 {
			return s.orGiven([]value{unset(setting, x.place())}, setting, x.in), true
		}
		found := asText(s.evaluateAll(set, nesting), strings.HasSuffix(name, "String"))
		return s.orGiven(found, setting, x.in), true
	case len(args) == 4 && flagTypes[name] && withFallback.MatchString(syntax.Name(fun)) && isTruth(args[1].Expr):
		// env.String("ADDR", false, ":8080", "usage") of nicholasjackson/env
		return s.orGiven(s.evaluate(args[2], nesting+1), s.variable(args, nesting), x.in), true
	case len(args) == 2 && withFallback.MatchString(syntax.Name(fun)):
		return s.orGiven(s.evaluate(args[1], nesting+1), s.variable(args, nesting), x.in), true
	case len(args) == 1 && strings.Contains(strings.ToLower(syntax.Name(fun)), "env"):
		variable := s.variable(args, nesting)
		return s.orGiven([]value{unset(variable, x.place())}, variable, x.in), true
	}
	return nil, false
}

// isTruth reports whether an expression is true or false by its name.
func isTruth(e ast.Expr) bool { return syntax.Name(e) == "true" || syntax.Name(e) == "false" }

// nearest returns those of several defaults that stand in the directory that is nearest to another one: two programs of
// an app may have a flag of the same name.
func nearest(defaults []expression, dir string) []expression {
	var all []expression
	best := -1
	for _, d := range defaults {
		near := maxNesting // a setting of a file
		if d.in != nil {
			near = sharedDirs(d.in.dir, dir)
		}
		if near > best {
			all, best = nil, near
		}
		if near == best {
			all = append(all, d)
		}
	}
	return all
}

// ofApp leaves out what programs beside the app proper give, for an expression that is in none, unless nothing else
// gives anything: a tool that runs the server in its own way says nothing of how the app runs it.
func (x expression) ofApp(from []expression) []expression {
	own := slices.DeleteFunc(slices.Clone(from), func(f expression) bool { return f.in != nil && f.in.isAside })
	if x.in.isAside || len(own) == 0 {
		return from
	}
	return own
}

// sharedDirs returns how many directories two paths have in common; a directory has most in common with itself.
func sharedDirs(a, b string) int {
	if a == b {
		return maxNesting
	}
	shared := 0
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for shared < min(len(as), len(bs), maxNesting-1) && as[shared] == bs[shared] {
		shared++
	}
	return shared
}

// variable returns the environment variable that the first argument of a call names, as [value] has it.
func (s *Sources) variable(args []expression, nesting int) string {
	if len(args) > 0 {
		if name, ok := s.text(args[0], nesting); ok && variableName.MatchString(name) {
			return "$" + name
		}
	}
	return someVariable
}

var variableName = source.Exactly(`[A-Za-z_]\w*`)

// text returns the one text that an expression states.
func (s *Sources) text(x expression, nesting int) (string, bool) {
	values := s.evaluate(x, nesting+1)
	if len(values) != 1 || values[0].isUnknown() {
		return "", false
	}
	return values[0].text, true
}
