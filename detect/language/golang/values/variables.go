package values

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// bindings are the environment variables that viper reads settings from.
type bindings struct {
	named     map[string]string // those of viper.BindEnv(key, name), by key in small letters
	automatic map[string]bool   // by viper.AutomaticEnv, by the directory of the call
	programs  map[string]bool   // the directories of packages main
	// holdPrograms are these directories and all that they lie in, except the app's.
	holdPrograms map[string]bool
	prefixes     []expression // of viper.SetEnvPrefix
	replaced     []string     // pairs of viper.SetEnvKeyReplacer
	unclear      bool         // some are computed
	// tagPrefixes are what programs put before the names of those in tags.
	tagPrefixes []expression
	envconfig   bool // a file imports kelseyhightower/envconfig
	processed   []processed
	// aconfig says that a file imports cristalhq/aconfig, which makes other names of those in tags.
	aconfig      bool
	flagPrefixes []flagPrefix
	allFlags     bool // viper reads settings from the flags of their names, by viper.BindPFlags
}

// declareBinding adds what a call of viper binds to the environment.
func (s *Sources) declareBinding(f *Source, call *ast.CallExpr, name string) {
	var texts []string
	for _, arg := range call.Args {
		if text, ok := syntax.StringLiteral(arg); ok {
			texts = append(texts, text)
		}
	}
	isWritten := len(texts) == len(call.Args)
	switch {
	case name == "BindEnv" && isWritten && len(texts) > 1:
		s.bound.named[strings.ToLower(texts[0])] = texts[1]
	case name == "BindPFlags":
		s.bound.allFlags = true
	case name == "AutomaticEnv":
		s.bound.automatic[f.dir] = true
	case name == "SetEnvPrefix" && len(call.Args) == 1:
		s.bound.prefixes = append(s.bound.prefixes, expression{Expr: call.Args[0], in: f})
	case name == "SetEnvKeyReplacer" && len(call.Args) == 1:
		s.declareReplacer(call.Args[0])
	}
}

// declareReplacer adds the pairs of strings.NewReplacer(".", "_").
func (s *Sources) declareReplacer(replacer ast.Expr) {
	made, ok := ast.Unparen(replacer).(*ast.CallExpr)
	if !ok || len(made.Args)%2 != 0 || len(made.Args) > maxElements {
		s.bound.unclear = true
		return
	}
	for _, arg := range made.Args {
		text, ok := syntax.StringLiteral(arg)
		s.bound.unclear = s.bound.unclear || !ok
		s.bound.replaced = append(s.bound.replaced, text)
	}
}

// settingOrVariable returns what replaces the setting of a key, as [value] has it, which a directory asks for: the
// environment variable that viper reads it from, if that is known. In an app of several programs one may read the
// environment and others not.
func (s *Sources) settingOrVariable(key, dir string) string {
	if name := s.bound.named[strings.ToLower(key)]; name != "" {
		return "$" + name
	}
	automatic := s.bound.automatic[dir] || len(s.bound.automatic) > 0 && len(s.bound.programs) == 1
	prefix, isKnown := s.prefixFor(dir)
	if !automatic || s.bound.unclear || !isKnown || len(s.bound.replaced)%2 != 0 {
		return "the setting " + key
	}
	name := strings.ToUpper(strings.NewReplacer(s.bound.replaced...).Replace(key))
	if prefix != "" {
		name = strings.ToUpper(prefix) + "_" + name
	}
	if !variableName.MatchString(name) {
		return "the setting " + key
	}
	return "$" + name
}

// prefixFor returns what viper puts before the names of the variables that a directory asks for, and whether that is
// known: it is what the directory sets, or the app.
func (s *Sources) prefixFor(dir string) (string, bool) {
	prefixes := s.bound.prefixes
	own := slices.DeleteFunc(slices.Clone(prefixes), func(x expression) bool { return x.in.dir != dir })
	if len(own) > 0 {
		prefixes = own
	}
	switch len(prefixes) {
	case 0:
		return "", true
	case 1:
		if values := s.evaluate(prefixes[0], 0); len(values) == 1 && values[0].setting == "" && !values[0].isUnknown() {
			return values[0].text, true
		}
	}
	return "", false
}

// boundVariable returns the environment variable, as [value] has it, from which viper fills the fields of a key in
// structs that a file declares, or "": where AutomaticEnv is called in the package of the struct, or BindEnv for the
// key.
func (s *Sources) boundVariable(key string, in *Source) string {
	if key == "" || in == nil || !s.bound.automatic[in.dir] && s.bound.named[strings.ToLower(key)] == "" {
		return ""
	}
	if setting := s.settingOrVariable(key, in.dir); strings.HasPrefix(setting, "$") {
		return setting
	}
	return ""
}
