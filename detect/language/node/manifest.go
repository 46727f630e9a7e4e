package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// packageJSON is what a package.json says. Fields of other types than npm takes say nothing.
type packageJSON struct {
	name string
	// programs are the files that it names as such: main, bin, and what its start script runs.
	programs []string
	// uses are the packages that it depends on.
	uses []string
	// isExported says that it names modules for others, and no program: neither a script that starts one, nor bin.
	isExported bool
	// loadsEnvironment says that it has a dependency that loads the file .env beside it.
	loadsEnvironment bool
}

var (
	// scriptFile is a source in a command, or what a compiler makes of it.
	scriptFile = lazyregexp.New(`[\w./@-]+\.[cm]?[jt]s\b|\bdist/[\w./-]+`)
	// nestStart is the command of NestJS that runs src/main.ts or apps/NAME/src/main.ts.
	nestStart = lazyregexp.New(`\bnest start(?:\s+([\w-]+))?`)
	// sourceDir is where sources are, or where compilers write.
	sourceDir = lazyregexp.New(`\b(?:dist|build|lib|out|src)/`)
	extension = lazyregexp.New(`\.[cm]?[jt]s$`)
	// environmentLoader is in a package.json whose app loads the file .env: by the package dotenv, by the one of NestJS
	// that has it, or by an option of Node.js.
	environmentLoader = lazyregexp.New(
		`"(?:dotenv(?:-\w+)?|@nestjs/config|env-cmd)"\s*:|--env-file[= ]\.env\b`)
)

// stem returns the path of a source, or of what is made of it, without its extension and the folders of both.
func stem(file string) string {
	return extension.ReplaceAllString(sourceDir.ReplaceAllString(path.Clean(file), ""), "")
}

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
	var files [2]string
	var scripts, bins map[string]string
	var dependencies map[string]any
	read("name", &p.name)
	read("main", &files[0])
	read("bin", &files[1])
	read("bin", &bins)
	read("scripts", &scripts)
	read("dependencies", &dependencies)
	p.uses = slices.Sorted(maps.Keys(dependencies))
	// The image has no devDependencies.
	p.loadsEnvironment = environmentLoader.Match(fields["dependencies"]) || environmentLoader.Match(fields["scripts"])
	hasModule := fields["main"] != nil || fields["exports"] != nil || fields["module"] != nil
	p.isExported = hasModule && fields["bin"] == nil
	for _, name := range []string{"start", "start:prod", "serve", "dev"} {
		p.isExported = p.isExported && scripts[name] == ""
	}
	p.programs = programFiles(slices.Concat(files[:], slices.Sorted(maps.Values(bins))), scripts)
	return &analyzer.Result[extra]{ProjectRoot: true, Extra: extra{manifest: p}}, nil
}

// programFiles returns files, and those that scripts start.
func programFiles(files []string, scripts map[string]string) []string {
	for _, name := range []string{"start", "start:prod", "serve"} {
		files = append(files, scriptFile.FindAllString(scripts[name], maxListed)...)
		if m := nestStart.FindStringSubmatch(scripts[name]); m != nil {
			files = append(files, "main", path.Join("apps", m[1], "main"))
		}
	}
	return slices.DeleteFunc(files, func(file string) bool { return file == "" })
}

// programs returns the stems of the files that the manifests of an app name as programs.
func programs(files []analyzer.File[extra]) map[string]bool {
	stems := map[string]bool{}
	for _, f := range files {
		for _, program := range f.Extra.manifest.programs {
			stems[stem(path.Join(path.Dir(f.Path), program))] = true
		}
	}
	return stems
}
