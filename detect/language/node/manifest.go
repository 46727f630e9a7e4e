package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// packageJSON is what a package.json says. Fields of other types than npm takes say nothing.
type packageJSON struct {
	name string
	// uses are the packages that it depends on.
	uses []string
	// isExported says that it names modules for others, and no program: neither a script that starts one, nor bin.
	isExported bool
	// loadsEnvironment says that it has a dependency that loads the file .env beside it.
	loadsEnvironment bool
}

// environmentLoader is in a package.json whose app loads the file .env: by the package dotenv, by the one of NestJS
// that has it, or by an option of Node.js.
var environmentLoader = lazyregexp.New(`"(?:dotenv(?:-\w+)?|@nestjs/config|env-cmd)"\s*:|--env-file[= ]\.env\b`)

// analyzeManifest decides whether a package.json begins a project. One that only sets the module system of its
// directory ({"type": "module"}) does not, and neither does one among the output of a compiler.
func analyzeManifest(text []byte, isOutput bool) (*analyzer.Result[extra], error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &fields); err != nil {
		return &analyzer.Result[extra]{ProjectRoot: !isOutput},
			fmt.Errorf("reading it as a project of no known content: %w", err)
	}
	if isOutput || fields["name"] == nil && fields["dependencies"] == nil && fields["scripts"] == nil {
		return nil, nil
	}
	read := func(field string, into any) { _ = json.Unmarshal(fields[field], into) }
	var p packageJSON
	var scripts, dependencies map[string]any
	read("name", &p.name)
	read("scripts", &scripts)
	read("dependencies", &dependencies)
	p.uses = slices.Sorted(maps.Keys(dependencies))
	// The image has no devDependencies.
	p.loadsEnvironment = environmentLoader.Match(fields["dependencies"]) || environmentLoader.Match(fields["scripts"])
	hasModule := fields["main"] != nil || fields["exports"] != nil || fields["module"] != nil
	p.isExported = hasModule && fields["bin"] == nil
	for _, name := range []string{"start", "start:prod", "serve", "dev"} {
		p.isExported = p.isExported && scripts[name] == nil
	}
	return &analyzer.Result[extra]{ProjectRoot: true, Extra: extra{manifest: p}}, nil
}
