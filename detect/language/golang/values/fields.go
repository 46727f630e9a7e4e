package values

import (
	"go/ast"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// originsOfField returns what a field gets: in the composite literals that the struct comes from or, where these are
// not known, in all of its type; by assignments; by the default in its tag; and by a setting of its key. It reports
// whether these are all: of a type that the app does not declare, others may set the fields.
func (s *Sources) originsOfField(x expression, field *ast.SelectorExpr, nesting int) ([]expression, bool) {
	holder, name := x.with(field.X), field.Sel.Name
	if s.spend(nesting) {
		return nil, false
	}
	t := s.typeOf(holder, nesting+1)
	of := s.symbolOf(t)
	literals := s.composites(holder, nesting+1)
	if len(literals) == 0 && of.name != "" && len(s.literals[of]) <= maxOrigins {
		literals = s.literals[of]
	}
	var from []expression
	for _, literal := range literals {
		if value := s.element(literal, name); value.Expr != nil {
			value.gets = alternatively
			from = append(from, value)
		}
	}
	if t.Expr == nil {
		return from, len(from) > 0
	}
	set, inFile := s.setting(x, nesting+1)
	if inFile {
		return set, true
	}
	from = append(from, s.assignedTo(holder, t, name, nesting)...)
	declared, in := s.fieldOf(t, name, 0)
	if declared != nil {
		from = append(from, tagged(in, declared)...)
	}
	from = append(from, set...)
	if len(from) == 0 && declared != nil { // settings that are read at run time set it
		return []expression{{constant: &unset[0]}}, true
	}
	return from, len(from) > 0
}

// element returns the value of a field in a composite literal, or an expression without one.
func (s *Sources) element(of expression, name string) expression {
	literal, ok := of.Expr.(*ast.CompositeLit)
	if !ok || len(literal.Elts) == 0 || len(literal.Elts) > maxElements {
		return expression{}
	}
	if _, hasKeys := literal.Elts[0].(*ast.KeyValueExpr); hasKeys {
		return of.with(syntax.Element(literal, name))
	}
	fields, _ := s.structOf(typeOfApp{literal.Type, of.in})
	if fields == nil {
		return expression{}
	}
	if at := fieldIndex(fields.Fields, name); at >= 0 && at < len(literal.Elts) {
		return of.with(literal.Elts[at])
	}
	return expression{}
}

// fieldIndex returns the position of a field in a struct, or -1.
func fieldIndex(fields *ast.FieldList, name string) int {
	at := 0
	for _, field := range fields.List {
		if at > maxElements {
			break
		}
		if len(field.Names) == 0 {
			if syntax.LastName(field.Type) == name {
				return at
			}
			at++
		}
		for _, n := range field.Names {
			if n.Name == name {
				return at
			}
			at++
		}
	}
	return -1
}

// assignedTo returns what the fields of a name get that belong to a struct of a type, by assignments. Of two structs of
// a type in another struct only the one counts that has the same name there.
func (s *Sources) assignedTo(holder expression, of typeOfApp, name string, nesting int) []expression {
	var from []expression
	fields, _ := s.structOf(of)
	for _, a := range s.fields[name] {
		if s.evaluated > maxEvaluated {
			return nil
		}
		to := expression{Expr: a.field.X, in: a.value.in}
		outer, isField := a.field.X.(*ast.SelectorExpr)
		holderField, holderIsField := ast.Unparen(holder.Expr).(*ast.SelectorExpr)
		if isField && holderIsField && outer.Sel.Name != holderField.Sel.Name {
			continue
		}
		if of, _ := s.structOf(s.typeOf(to, nesting+1)); of != nil && of == fields {
			from = append(from, a.value)
		}
	}
	return from
}

// composites returns the composite literals that the value of an expression comes from.
func (s *Sources) composites(x expression, nesting int) []expression {
	if s.spend(nesting) || x.constant != nil {
		return nil
	}
	if literal, ok := ast.Unparen(x.Expr).(*ast.CompositeLit); ok {
		return []expression{x.with(literal)}
	}
	var found []expression
	origins, _ := s.origins(x, nesting)
	for _, from := range origins {
		if found = append(found, s.composites(from, nesting+1)...); len(found) > maxValues {
			break
		}
	}
	return found
}

// tagKeys are the keys of the tags that hold a default: those of envconfig and creasty/defaults, caarlos0/env,
// cleanenv, and viper with mapstructure.
var tagKeys = []string{"default", "envDefault", "env-default"}

// optionDefault is a default among the options of a tag: those of sethvargo/go-envconfig (env:"PORT,default=8080"),
// of ardanlabs/conf (conf:"default:8080") and of go-zero (json:",default=8080").
var optionDefault = regexp.MustCompile(`\b(?:env|conf|json|yaml|config|flag|cfg):"[^"]*?\bdefault[=:]\s*([^",]+)[",]`)

// required is in a tag of a field that is always set, or the program ends: those of envconfig, caarlos0/env and
// go-flags.
var required = regexp.MustCompile(`\brequired:"(?:true|yes)"|\b(?:env|conf):"[^"]*,\s*(?:required|notEmpty)\b`)

// tagged returns what a field gets by its tag.
func tagged(in *Source, field *ast.Field) []expression {
	if value, ok := tagDefault(in, field); ok {
		return []expression{{constant: &value}}
	}
	if field.Tag != nil && required.MatchString(field.Tag.Value) {
		return []expression{{constant: &unset[0], gets: always}}
	}
	return nil
}

// tagDefault returns the default that the tag of a field states.
func tagDefault(in *Source, field *ast.Field) (value, bool) {
	if field.Tag == nil {
		return value{}, false
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return value{}, false
	}
	at := expression{Expr: field.Tag, in: in}.place()
	for _, key := range tagKeys {
		if text, ok := reflect.StructTag(tag).Lookup(key); ok {
			return value{text: text, at: at}, len(text) <= maxConstant
		}
	}
	if m := optionDefault.FindStringSubmatch(tag); m != nil {
		return value{text: m[1], at: at}, len(m[1]) <= maxConstant
	}
	return value{}, false
}

// setting returns the values of the setting that a field of a struct is filled from: viper fills the field Port in the
// field GRPC from the key grpc.port. The values in files go before defaults: inFile says that they are from files.
func (s *Sources) setting(x expression, nesting int) (values []expression, inFile bool) {
	if len(s.settings)+len(s.loaded) == 0 {
		return nil, false
	}
	var keys []string
	for range maxNesting {
		field, ok := ast.Unparen(x.Expr).(*ast.SelectorExpr)
		if !ok {
			break
		}
		declared, _ := s.fieldOf(s.typeOf(x.with(field.X), nesting), field.Sel.Name, 0)
		if declared == nil || len(keys) > 0 && holdsSettings.MatchString(field.Sel.Name) {
			break
		}
		keys = append([]string{strings.ToLower(settingKey(declared, field.Sel.Name))}, keys...)
		x = x.with(field.X)
	}
	key := strings.Join(keys, ".")
	return s.settingOf(key), s.loaded[key] != nil
}

// settingOf returns the values of the setting with a key in small letters.
func (s *Sources) settingOf(key string) []expression {
	if found := s.loaded[key]; found != nil {
		return found
	}
	return s.settings[key]
}

// holdsSettings are the names of fields that hold all settings, and are no part of their keys.
var holdsSettings = source.Exactly(`(?i).*(?:cfg|conf|config|configuration|settings?|options?|opts|env)`)

// settingKey returns the key from which a field is filled: that of its tag, or its name.
func settingKey(field *ast.Field, name string) string {
	if field.Tag == nil {
		return name
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return name
	}
	for _, key := range []string{"mapstructure", "koanf", "yaml", "json", "toml"} {
		if of, _, _ := strings.Cut(reflect.StructTag(tag).Get(key), ","); of != "" {
			return of
		}
	}
	return name
}
