package node

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// entries are the files that a package.json names as the programs of its package: main, bin, and what its start script
// runs. They are without extension and output directory, as the names of sources are compared.
type entries []string

var (
	// scriptFile is a source in a command, or the command of NestJS that runs src/main.ts or apps/NAME/src/main.ts.
	scriptFile = lazyregexp.New(`[\w./@-]+\.[cm]?[jt]s\b|\bnest start(?:\s+[\w-]+)?|\bdist/[\w./-]+`)
	// outputDir is where compilers write, and sourceDir where the sources are.
	outputDir = lazyregexp.New(`^(?:\./)?(?:(?:dist|build|lib|out|src)/)*`)
	extension = lazyregexp.New(`\.[cm]?[jt]s$`)
)

// stem returns a path as entries have it: src/main.ts, dist/main.js and ./dist/main are main.
func stem(file string) string {
	return extension.ReplaceAllString(outputDir.ReplaceAllString(path.Clean(file), ""), "")
}

// entriesOf returns the programs that the fields of a package.json name. Fields of other types name none.
func entriesOf(fields map[string]json.RawMessage) entries {
	var found entries
	add := func(file string) {
		if file != "" {
			found = append(found, stem(file))
		}
	}
	var text string
	var texts map[string]string
	for _, field := range []string{"main", "bin"} {
		if json.Unmarshal(fields[field], &text) == nil {
			add(text)
		}
	}
	if json.Unmarshal(fields["bin"], &texts) == nil {
		for _, file := range texts {
			add(file)
		}
	}
	texts = nil
	if json.Unmarshal(fields["scripts"], &texts) == nil {
		for _, name := range []string{"start", "start:prod", "serve"} {
			for _, file := range scriptFile.FindAllString(texts[name], maxImports) {
				if app, ok := strings.CutPrefix(file, "nest start"); ok {
					file = path.Join("apps", strings.TrimSpace(app), "src/main")
					add("main")
				}
				add(file)
			}
		}
	}
	return found
}

// nestManifest names the apps of a repository that NestJS' command builds.
const nestManifest = "nest-cli.json"

// analyzeNest returns the program of the app that the command builds unless it is given another one
// (https://docs.nestjs.com/cli/monorepo).
func analyzeNest(text []byte) *analyzer.Result[extra] {
	var fields struct {
		IsMonorepo bool   `json:"monorepo"`
		SourceRoot string `json:"sourceRoot"`
		EntryFile  string `json:"entryFile"`
	}
	if err := json.Unmarshal(text, &fields); err != nil || !fields.IsMonorepo || fields.SourceRoot == "" {
		return nil
	}
	entry := stem(path.Join(fields.SourceRoot, cmp.Or(fields.EntryFile, "main")))
	return &analyzer.Result[extra]{Extra: extra{entries: entries{entry}}}
}

// entryFiles returns the files that the manifests of an app name as programs.
func (m *modules) entryFiles() map[string]bool {
	found := map[string]bool{}
	for _, manifest := range m.all {
		dir := path.Dir(manifest.Path)
		for _, entry := range manifest.Extra.entries {
			for _, below := range []string{"", "src", "dist", "build", "lib", "out"} {
				found[m.at(path.Join(dir, below, entry))] = true
			}
			// The command of NestJS compiles apps/NAME/src/main.ts to dist/apps/NAME/main.js.
			found[m.at(path.Join(dir, path.Dir(entry), "src", path.Base(entry)))] = true
		}
	}
	return found
}

// alias is a name for modules that tsconfig.json declares: @app/common, or the prefix @app/ of many.
type alias struct {
	dir      string // of the tsconfig.json, which is for what lies in it
	prefix   string
	target   string // a path in the app
	wildcard bool
}

// compilerConfig is the file name of settings of the TypeScript compiler.
var compilerConfig = lazyregexp.New(`^[jt]sconfig(?:\.\w+)?\.json$`)

var (
	pathsProperty = lazyregexp.New(`"paths"\s*:\s*\{`)
	baseURL       = lazyregexp.New(`"baseUrl"\s*:\s*"([^"\n]*)"`)
	pathsEntry    = lazyregexp.New(`"([^"\n]+)"\s*:\s*\[\s*"([^"\n]+)"`)
)

// maxAliases is how many aliases of one file are read.
const maxAliases = 200

// analyzeCompilerConfig returns the aliases that a tsconfig.json declares. It is no strict JSON: people write comments
// and commas that JSON has not.
func analyzeCompilerConfig(file string, text []byte) *analyzer.Result[extra] {
	if len(text) > maxModule {
		return nil
	}
	at := pathsProperty.FindIndex(text)
	if at == nil {
		return nil
	}
	base := path.Dir(file)
	if m := baseURL.FindSubmatch(text); m != nil {
		base = path.Join(base, string(m[1]))
	}
	var aliases []alias
	for _, m := range pathsEntry.FindAllSubmatch(text[at[1]:], maxAliases) {
		prefix, wildcard := strings.CutSuffix(string(m[1]), "*")
		target := path.Join(base, strings.TrimSuffix(string(m[2]), "*"))
		if wildcard {
			target += "/"
		}
		aliases = append(aliases, alias{path.Dir(file), prefix, target, wildcard})
	}
	return &analyzer.Result[extra]{Extra: extra{aliases: aliases}}
}
