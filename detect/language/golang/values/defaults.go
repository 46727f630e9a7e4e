package values

import (
	"go/ast"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// koanfMap has a function Provider, which gives koanf the settings in a map.
var koanfMap = source.Exactly(`github\.com/knadh/koanf/(?:v\d+/)?providers/confmap(?:/v\d+)?`)

// declareMap adds the defaults that a call gives koanf in a map. What is loaded after a file goes before it, and is no
// default.
func (s *Sources) declareMap(f *Source, call *ast.CallExpr) {
	fun := syntax.Called(call)
	switch importPath := f.PathOf(fun); {
	case syntax.LastName(fun) != "Provider" || len(call.Args) == 0:
	case koanfFile.MatchString(importPath):
		f.loadsFile = true
	case koanfMap.MatchString(importPath) && !f.loadsFile:
		s.defaults = append(s.defaults, namedDefault{value: expression{Expr: call.Args[0], in: f}, isSetting: true})
	}
}

// koanfFile has a function Provider, which gives koanf the settings in a file.
var koanfFile = source.Exactly(`github\.com/knadh/koanf/(?:v\d+/)?providers/file(?:/v\d+)?`)

// addDefault adds what a setting has by default: each of the settings in a map, and each of those that a loop gives
// their defaults, as in for key, value := range defaults { viper.SetDefault(key, value) }.
func (s *Sources) addDefault(d namedDefault) {
	if d.name.Expr == nil {
		s.addDefaults("", d.value, 0)
		return
	}
	if loop := rangeOver(d.name); loop != nil && syntax.Name(loop.Value) == syntax.Name(d.value.Expr) {
		s.addDefaults("", d.value.with(loop.X), 0)
		return
	}
	if name, ok := s.text(d.name, 0); ok && !s.addDefaults(name+".", d.value, 0) {
		key := strings.ToLower(name)
		s.settings[key] = append(s.settings[key], d.value)
	}
}

// rangeOver returns the loop whose key an expression is, or nil.
func rangeOver(x expression) *ast.RangeStmt {
	loop, ok := x.declaredBy().(*ast.RangeStmt)
	if !ok || syntax.Name(loop.Key) != syntax.Name(x.Expr) {
		return nil
	}
	return loop
}

// addDefaults adds the settings in a map whose keys follow a prefix, with those in the maps that are its elements. It
// reports whether an expression is a map.
func (s *Sources) addDefaults(prefix string, of expression, nesting int) bool {
	if s.spend(nesting) || !mayBeMap(of.Expr) {
		return false
	}
	isMap := false
	for _, x := range s.composites(of, nesting) {
		literal, _ := x.Expr.(*ast.CompositeLit)
		for _, e := range literal.Elts[:min(len(literal.Elts), maxElements)] {
			pair, ok := e.(*ast.KeyValueExpr)
			if !ok {
				break
			}
			name, ok := syntax.StringLiteral(pair.Key)
			if _, isTyped := literal.Type.(*ast.MapType); !ok && isTyped {
				name, ok = s.text(x.with(pair.Key), nesting)
			}
			if !ok {
				continue
			}
			if isMap = true; !s.addDefaults(prefix+name+".", x.with(pair.Value), nesting+1) {
				key := strings.ToLower(prefix + name)
				s.settings[key] = append(s.settings[key], x.with(pair.Value))
			}
		}
	}
	return isMap
}

// mayBeMap reports whether an expression is a composite literal, or a name or a call that may stand for one.
func mayBeMap(e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.CompositeLit, *ast.Ident, *ast.SelectorExpr, *ast.CallExpr:
		return true
	}
	return false
}
