package node

import (
	"encoding/json"
	"path"

	"github.com/grpc-cnb/health-probe/detect/tree/target"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var toolchain = target.Toolchain{
	Extensions: []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"},
	Folders:    []string{"node", "nodejs", "typescript", "javascript"},
	Starts:     []string{"node", "npx"},
	Runtimes:   []string{"node", "npm", "yarn", "pnpm", "bun", "nest", "tsx", "ts-node", "nodemon", "pm2"},
	Variables: []target.Variable{
		{Name: "BP_LAUNCHPOINT", Source: nodeBuildpacks, Read: target.Command, IsHint: true},
		{Name: "BP_NODE_PROJECT_PATH", Source: nodeBuildpacks, Read: target.Directory},
	},
	Reads: func(file string) bool { return path.Base(file) == manifest },
	Read:  readStart,
}

const nodeBuildpacks = "paketo-buildpacks/libnodejs spec_constants.go"

// readStart reads the command of `npm start` in the app's folder.
func readStart(file string, text []byte) target.Manifest {
	m := target.Manifest{IsPackage: true}
	if file == manifest {
		m.Value = target.Value{
			Says: "the script start of " + manifest, Text: startScript(text), Read: startedByNPM, IsHint: true,
		}
	}
	return m
}

var runsScript = lazyregexp.New(`^(?:npm run|yarn(?: run)?|pnpm(?: run)?|bun run)\s+([\w:.-]+)\s*$`)

// maxScripts is how many scripts are followed that run one another.
const maxScripts = 4

// startScript returns the command of `npm start`, "" for none.
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

// startedByNPM reads the command of the script "start", which names no program that has to exist.
func startedByNPM(fs *target.Files, value string) []target.Module {
	all := target.Command(fs, value)
	for i := range all {
		all[i].Path = ""
	}
	return all
}
