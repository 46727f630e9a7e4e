package python

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree/target"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var toolchain = target.Toolchain{
	Extensions: []string{".py"},
	Folders:    []string{"python", "py"},
	Starts:     []string{"python", "python3", "uv run", "poetry run", "pipenv run"},
	IsProgram:  isModuleOf,
}

// isModuleOf reports whether a word is the module of a server, as for python -m or an application server: app.server,
// app.server:main.
func isModuleOf(_ *target.Files, s *plan.Server, word string) bool {
	name, _, _ := strings.Cut(word, ":")
	module := strings.ReplaceAll(name, ".", "/")
	return target.IsIn(s, module+".py") || module != name && target.IsIn(s, module)
}
