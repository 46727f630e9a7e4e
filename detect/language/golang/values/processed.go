package values

import (
	"go/ast"
	"reflect"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// processed is a struct that kelseyhightower/envconfig fills from variables whose names begin with a prefix:
// envconfig.Process("shop", &config).
type processed struct{ prefix, target expression }

// declareProcessed adds the struct that a call of envconfig fills.
func (s *Sources) declareProcessed(f *Source, call *ast.CallExpr) {
	fun := syntax.Called(call)
	name := syntax.LastName(fun)
	isProcess := len(call.Args) == 2 && (name == "Process" || name == "MustProcess")
	if isProcess && envconfigLibrary.MatchString(f.PathOf(fun)) {
		at := func(e ast.Expr) expression { return expression{Expr: e, in: f} }
		s.bound.processed = append(s.bound.processed, processed{at(call.Args[0]), at(call.Args[1])})
	}
}

// processedVariable returns the environment variable, as [value] has it, from which envconfig fills a field of a type
// by its name and those of the fields around it, or "" (envconfig.go: gatherInfo).
func (s *Sources) processedVariable(t typeOfApp, field *ast.Field, name string) string {
	if len(s.bound.processed) == 0 || len(s.bound.processed) > maxOrigins || field == nil {
		return ""
	}
	key := processedKey(field, name)
	for range maxHandedOn {
		of, _ := s.structOf(t)
		if of == nil || key == "" {
			break
		}
		if prefix, count := s.processedPrefix(of); count > 0 {
			if count > 1 {
				break // several programs fill it
			}
			return "$" + strings.ToUpper(prefix+key)
		}
		held := s.holdersOf(of)
		if len(held) != 1 {
			break
		}
		if outer := held[0].field; len(outer.Names) > 0 {
			around := processedKey(outer, outer.Names[0].Name)
			if around == "" {
				break
			}
			key = around + "_" + key
		}
		t = held[0].outer
	}
	return ""
}

// processedPrefix returns what begins the names of the variables that fill a struct, and how many calls fill it with
// prefixes that differ or are not known.
func (s *Sources) processedPrefix(of *ast.StructType) (prefix string, count int) {
	for _, p := range s.bound.processed {
		if filled, _ := s.structOf(s.typeOf(p.target, 0)); filled != of {
			continue
		}
		text, ok := s.text(p.prefix, 0)
		if text != "" {
			text += "_"
		}
		if !ok || count == 0 || text != prefix {
			count++
		}
		if prefix = text; !ok {
			count++
		}
	}
	return prefix, count
}

// inWords are the places where envconfig splits a name into words, if a tag says so.
var inWords = []*lazyregexp.Regexp{
	lazyregexp.New(`([^A-Z_])([A-Z])`), lazyregexp.New(`([A-Z])([A-Z][^A-Z])`),
}

// processedKey returns what a field adds to the name of a variable; "" for a field that is left out.
func processedKey(field *ast.Field, name string) string {
	if field.Tag == nil {
		return name
	}
	text, err := strconv.Unquote(field.Tag.Value)
	tag := reflect.StructTag(text)
	switch {
	case err != nil || tag.Get("ignored") == "true":
		return ""
	case tag.Get("envconfig") != "":
		return tag.Get("envconfig")
	case tag.Get("split_words") == "true":
		for _, at := range inWords {
			name = at.ReplaceAllString(name, "${1}_${2}")
		}
	}
	return name
}
