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

// packageJSON is the content of a package.json. Fields with other types than npm takes count as absent.
type packageJSON struct {
	name string
	// uses are the packages of the dependencies.
	uses []string
	// isExported is set if the package names modules for others but no program: no bin, and no script that starts one.
	isExported bool
	// loadsEnvironment is set if a dependency or a script loads the file .env beside package.json.
	loadsEnvironment bool
}

// environmentLoader matches the package.json of an app that loads the file .env: by the package dotenv, by a package of
// NestJS that includes dotenv, or by an option of Node.js.
var environmentLoader = lazyregexp.New(`"(?:dotenv(?:-\w+)?|@nestjs/config|env-cmd)"\s*:|--env-file[= ]\.env\b`)

// analyzeManifest decides whether a package.json begins a project. A package.json in the output of a compiler does not,
// nor does one with only the module system of its directory ({"type": "module"}).
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
