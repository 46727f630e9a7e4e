package address

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// environmentBy matches a question to the environment for the variable that a constant names: System.getenv(PORT).
	environmentBy = regexp.MustCompile(`(?i:\b\w*env(?:iron(?:ment)?)?(?:variable)?[!?]?)` +
		`(?:(?:\.|::|->)\w+[!?]?|\(\))*\s*[(\[]\s*([A-Za-z_][\w.]*)\s*[,)\]]`)
	variableLiteral = source.Exactly(`["']([A-Za-z_]\w*)["']`)
)

// askByConstants takes the environment variables that an expression asks for by constants, each of which has one value
// that can be seen.
func (e *evaluation) askByConstants(x expression) {
	if e.left <= 0 || len(x.code) > source.MaxValue {
		return
	}
	for _, m := range environmentBy.FindAllSubmatch(x.code, maxDeclarations) {
		values := e.visible(Path(string(m[1])), x.at)
		if len(values) != 1 {
			continue
		}
		s := e.Trim(source.Span{From: values[0].at, To: values[0].at + len(values[0].raw)})
		if name := variableLiteral.FindSubmatch(e.Raw[s.From:s.To]); name != nil {
			e.variables = append(e.variables, string(name[1]))
			e.givers = append(e.givers, giver{VariableGiver(string(name[1])), x.at})
		}
	}
}
