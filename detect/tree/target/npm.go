package target

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// packageJSON is the file of a package of Node.js. `npm start` runs the script "start" of the one in the app's folder.
const packageJSON = "package.json"

// runsScript is a command that runs another script of the package.
var runsScript = lazyregexp.New(`^(?:npm run|yarn(?: run)?|pnpm(?: run)?|bun run)\s+([\w:.-]+)\s*$`)

// maxScripts is how many scripts are followed that run one another.
const maxScripts = 4

// startScript returns the command that `npm start` runs, "" for none.
func startScript(text []byte) string {
	var fields struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(text, &fields) != nil {
		return ""
	}
	command, _ := fields.Scripts["start"].(string)
	for range maxScripts {
		m := runsScript.FindStringSubmatch(command)
		if m == nil {
			break
		}
		command, _ = fields.Scripts[m[1]].(string)
	}
	return command
}

// npmStart reads the command of the script "start". It names no program that has to be there.
func npmStart(value string, files *Files) []module {
	all := command(value, files)
	for i := range all {
		all[i].path = ""
	}
	return all
}

// runtimes are the languages of the programs that a word of a command line runs.
var runtimes = map[string][]string{
	"node": node, "npm": node, "yarn": node, "pnpm": node, "bun": node, "nest": node, "tsx": node, "ts-node": node,
	"nodemon": node, "pm2": node, "java": jvm, "dotnet": dotnet,
}

// runtimeOf returns the languages of the programs that a command line runs, if it does not name the source of one: what
// a compiler writes has another name.
func runtimeOf(value string) []string {
	var languages []string
	for _, word := range procfile.Words(value) {
		if scripts[path.Ext(word)] && !slices.ContainsFunc(strings.Split(word, "/"), isOutputDir) {
			return nil
		}
		if languages == nil {
			languages = runtimes[word]
		}
	}
	return languages
}

func isOutputDir(dir string) bool { return slices.Contains(outputs, dir) }

// isInPackage reports whether a server lies in a package of Node.js below the app's folder.
func (fs *Files) isInPackage(s *plan.Server) bool {
	for dir := range tree.Ancestors(s.Evidence.Path) {
		if dir != "." && fs.packages[dir] {
			return true
		}
	}
	return false
}
