package address

import (
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// environmentBy matches a question to the environment for the variable that a constant names: System.getenv(PORT).
	environmentBy = lazyregexp.New(`(?i:\b\w*env(?:iron(?:ment)?)?(?:variable)?[!?]?)` +
		`(?:(?:\s*\.\s*|::|->)\w+[!?]?|\(\s*\))*\s*[(\[]\s*([A-Za-z_][\w.:]*)\s*[,)\]]`)
	// constantName matches the names of constants, and of what belongs to a type or a module.
	constantName  = source.Exactly(`(?:\w+(?:\.|::))*(?:[A-Z][A-Z0-9_]*|k[A-Z]\w*)|(?:\w+::)+\w+`)
	stringOfWords = source.Exactly(`["']([A-Za-z_]\w*)["']`)
)

// askByConstants takes the environment variables that an expression asks for by constants. What a variable replaces of
// which no name is seen is not known.
func (e *evaluation) askByConstants(x expression) {
	if e.left <= 0 || len(x.code) > source.MaxValue {
		return
	}
	for _, m := range environmentBy.FindAllSubmatch(x.code, maxDeclarations) {
		if name := e.Constant(string(m[1]), x.at); name != "" {
			e.variables = append(e.variables, name)
			e.givers = append(e.givers, giver{VariableGiver(name), x.at})
		} else if constantName.Match(m[1]) {
			e.unclear = true
		}
	}
}

// Constant returns the value of a constant at the offset where it is used, if that is a single word. It returns "" if
// the text gives the constant no value, or several.
func (d *Names) Constant(name string, at int) string {
	values := d.Values(Path(name), at)
	if len(values) != 1 {
		return ""
	}
	s := d.Trim(values[0])
	if word := stringOfWords.FindSubmatch(d.Raw[s.From:s.To]); word != nil {
		return string(word[1])
	}
	return ""
}
