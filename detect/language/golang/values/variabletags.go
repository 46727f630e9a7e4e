package values

import (
	"cmp"
	"go/ast"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// variableTag is the name of an environment variable in a tag: those of caarlos0/env, cleanenv,
	// sethvargo/go-envconfig, go-flags and kong, also as an option of kong's own tag, and that of go-arg.
	variableTag = lazyregexp.New(`\benv:"([A-Za-z_]\w*)[",]|` +
		`\bkong:"(?:[^"]*,)?\s*env='?([A-Za-z_]\w*)['",]|\barg:"(?:[^"]*,)?\s*env:([A-Za-z_]\w*)[",]`)
	// envconfigTag is that of kelseyhightower/envconfig, which asks for it in capital letters if the longer one is not
	// set that begins with the names of the structs around it (envconfig.go: gatherInfo, Process).
	envconfigTag = lazyregexp.New(`\benvconfig:"([A-Za-z_]\w*)"`)
	// prefixTag is what stands before the variables of a struct, in the tag of a field that has it: those of
	// caarlos0/env, cleanenv and kong, of sethvargo/go-envconfig, and kong's as an option. namespaceTag is that of
	// go-flags, which puts an underscore after it (Option.EnvKeyWithNamespace).
	prefixTag = lazyregexp.New(`\b(?:envPrefix|env-prefix|envprefix):"([^"]*)"|` +
		`\benv:"[^"]*\bprefix=([^",]*)|\bkong:"(?:[^"]*,)?\s*envprefix='?([^'",]*)`)
	namespaceTag = lazyregexp.New(`\benv-namespace:"([^"]+)"`)

	envconfigLibrary = source.Exactly(`github\.com/kelseyhightower/envconfig`)
	envLibrary       = source.Exactly(`github\.com/caarlos0/env(?:/v\d+)?`)
)

// someVariable stands for an environment variable whose name is not known.
const someVariable = "an environment variable"

// declarePrefix learns that a program puts something before the names of all variables in tags, by env.Options{Prefix:
// "SHOP_"} of caarlos0/env.
func (s *Sources) declarePrefix(f *Source, literal *ast.CompositeLit) {
	prefix := syntax.Element(literal, "Prefix")
	if syntax.LastName(literal.Type) == "Options" && prefix != nil && f.Imports.AnyMatches(envLibrary) {
		s.bound.tagPrefixes = append(s.bound.tagPrefixes, expression{Expr: prefix, in: f})
	}
}

// tagVariable returns the environment variable that fills a field, by its tag or, with kelseyhightower/envconfig, by
// its name, as [value] has it, or "".
func (s *Sources) tagVariable(holder expression, t typeOfApp, field *ast.Field, name string) string {
	return cmp.Or(s.taggedVariable(holder, t, field), s.processedVariable(t, field, name))
}

// taggedVariable returns the environment variable that fills a field by its tag, as [value] has it, or "". The field is
// selected from an expression of a type.
func (s *Sources) taggedVariable(holder expression, t typeOfApp, field *ast.Field) string {
	if field == nil || field.Tag == nil {
		return ""
	}
	if m := variableTag.FindStringSubmatch(field.Tag.Value); m != nil {
		first, isPrefixKnown := s.tagPrefix()
		if prefix, ok := s.variablePrefix(holder, t, 0); ok && isPrefixKnown && !s.bound.aconfig {
			return "$" + first + prefix + m[1] + m[2] + m[3]
		}
		return someVariable
	}
	m := envconfigTag.FindStringSubmatch(field.Tag.Value)
	if m == nil {
		return ""
	}
	if !s.bound.envconfig {
		return someVariable
	}
	return "$" + strings.ToUpper(m[1])
}

// tagPrefix returns what a program puts before the names of all variables in tags, and whether that is known.
func (s *Sources) tagPrefix() (string, bool) {
	switch len(s.bound.tagPrefixes) {
	case 0:
		return "", true
	case 1:
		return s.text(s.bound.tagPrefixes[0], 0)
	}
	return "", false
}

// heldBy is a field of a struct that has another struct for its type.
type heldBy struct {
	field *ast.Field
	outer typeOfApp
}

// variablePrefix returns what stands before the names of the variables of a struct, and whether that is known. It
// follows the expression that the struct is, or else all fields of the app that have it.
func (s *Sources) variablePrefix(x expression, t typeOfApp, nesting int) (string, bool) {
	if s.spend(nesting) {
		return "", false
	}
	if selected, ok := ast.Unparen(x.Expr).(*ast.SelectorExpr); ok && x.in.PathOf(selected) == "" {
		outer := s.typeOf(x.with(selected.X), nesting+1)
		if field, _ := s.fieldOf(outer, selected.Sel.Name, 0); field != nil {
			before, ok := s.variablePrefix(x.with(selected.X), outer, nesting+1)
			return before + prefixOf(field), ok
		}
	}
	of, _ := s.structOf(t)
	prefix, isKnown := "", true
	for i, held := range s.holdersOf(of) {
		before, ok := s.variablePrefix(expression{in: held.outer.in}, held.outer, nesting+1)
		before += prefixOf(held.field)
		isKnown = isKnown && ok && (i == 0 || before == prefix)
		prefix = before
	}
	return prefix, isKnown
}

// prefixOf returns the prefix in the tag of a field.
func prefixOf(field *ast.Field) string {
	if field.Tag == nil {
		return ""
	}
	if m := prefixTag.FindStringSubmatch(field.Tag.Value); m != nil {
		return m[1] + m[2] + m[3]
	}
	if m := namespaceTag.FindStringSubmatch(field.Tag.Value); m != nil {
		return m[1] + "_"
	}
	return ""
}

// holdersOf returns the fields of the app's types that have a struct for their type.
func (s *Sources) holdersOf(held *ast.StructType) []heldBy {
	if s.holders == nil {
		s.holders = map[*ast.StructType][]heldBy{}
		for _, t := range s.types {
			if fields, ok := t.Expr.(*ast.StructType); ok {
				s.addHolders(t, fields, 0)
			}
		}
	}
	all := s.holders[held]
	return all[:min(len(all), maxValues)]
}

func (s *Sources) addHolders(outer typeOfApp, fields *ast.StructType, nesting int) {
	for _, field := range fields.Fields.List[:min(len(fields.Fields.List), maxElements)] {
		inner, in := s.structOf(typeOfApp{field.Type, outer.in})
		if inner == nil || nesting > maxNesting {
			continue
		}
		s.holders[inner] = append(s.holders[inner], heldBy{field, outer})
		if inner == field.Type {
			s.addHolders(typeOfApp{inner, in}, inner, nesting+1)
		}
	}
}
