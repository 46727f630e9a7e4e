package values

import (
	"cmp"
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// inSource stands for what decides when the app runs, and is no setting that somebody who runs the app knows: a field
// that other code fills, a parameter.
const inSource = "a condition in the source"

// either returns the first of several settings, those that have a name before others.
func either(settings ...string) string {
	for _, setting := range settings {
		if setting != "" && setting != inSource {
			return setting
		}
	}
	return cmp.Or(settings...)
}

// settingNamed returns the setting that an expression is, if its value is not known: that of a field. It is "" for
// other expressions.
func (s *Sources) settingNamed(x expression) string {
	field, ok := ast.Unparen(x.Expr).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	return s.settingOfField(s.typeOf(x.with(field.X), 0), s.settingKey(x, 0))
}

// settingOfField returns the setting that fills a field of a type, by its key: the type is for settings, as tags of its
// fields name them, or the app gives the setting a value.
func (s *Sources) settingOfField(of typeOfApp, key string) string {
	if key == "" {
		return inSource
	}
	if lower := strings.ToLower(key); s.isTagged(of) || s.settings[lower] != nil || s.loaded[lower] != nil {
		return "the setting " + key
	}
	return inSource
}

// settingKey returns the key of the setting that a field of a struct is filled from: viper fills the field Port in the
// field GRPC from the key grpc.port. Its letters are those of the names of the fields, or of their tags. The struct may
// have been handed on: New(config.GRPC).
func (s *Sources) settingKey(x expression, nesting int) string {
	var keys []string
	for range maxNesting {
		x = s.gotField(x, nesting)
		field, isField := ast.Unparen(x.Expr).(*ast.SelectorExpr)
		var declared *ast.Field
		if isField {
			declared, _ = s.fieldOf(s.typeOf(x.with(field.X), nesting), field.Sel.Name, 0)
		}
		key := ""
		if declared != nil {
			if key = fieldKey(declared, field.Sel.Name); key == "" {
				return ""
			}
		}
		switch {
		case declared == nil && len(keys) == 0:
			return ""
		case declared != nil && (len(keys) == 0 || key != field.Sel.Name || !holdsSettings.MatchString(key)):
			keys = append([]string{key}, keys...)
			x = x.with(field.X)
		default:
			if x = s.handedOn(x, nesting+1); x.Expr == nil {
				return strings.Join(keys, ".")
			}
		}
	}
	return strings.Join(keys, ".")
}

// gotField returns the field that a getter returns which protoc-gen-go generated: c.Server for c.GetServer(). It
// returns other expressions as they are.
func (s *Sources) gotField(x expression, nesting int) expression {
	call, isCall := ast.Unparen(x.Expr).(*ast.CallExpr)
	if !isCall || len(call.Args) > 0 {
		return x
	}
	getter, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod {
		return x
	}
	name, isGetter := strings.CutPrefix(getter.Sel.Name, "Get")
	if !isGetter {
		return x
	}
	field, in := s.fieldOf(s.typeOf(x.with(getter.X), nesting), name, 0)
	if field == nil || !strings.HasSuffix(in.path, ".pb.go") {
		return x
	}
	return x.with(&ast.SelectorExpr{X: getter.X, Sel: &ast.Ident{NamePos: getter.Sel.NamePos, Name: name}})
}

// handedOn returns the one expression that a struct comes from, if settings files are there, of which its fields are
// filled: otherwise it does not matter.
func (s *Sources) handedOn(x expression, nesting int) expression {
	if len(s.loaded) == 0 || s.spend(nesting) {
		return expression{}
	}
	return s.onlyOrigin(x, nesting)
}

// isTagged reports whether a type is a struct for settings, as tags of its fields name them.
func (s *Sources) isTagged(t typeOfApp) bool {
	fields, _ := s.structOf(t)
	return fields != nil &&
		slices.ContainsFunc(fields.Fields.List[:min(len(fields.Fields.List), maxElements)], hasSettingTag)
}

func hasSettingTag(field *ast.Field) bool {
	return field.Tag != nil && settingTag.MatchString(field.Tag.Value)
}

// settingTag is the tag of a field that is filled from settings: the key - is that of none.
var settingTag = lazyregexp.New(`\b(?:mapstructure|koanf|yaml|toml|env|envconfig|json):"(?:[^-]|-[^"])`)

// holdsSettings are the names of fields that hold all settings, and are no part of their keys.
var holdsSettings = source.Exactly(`(?i).*(?:cfg|conf|config|configuration|settings?|options?|opts|env)`)
