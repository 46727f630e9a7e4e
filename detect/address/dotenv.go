package address

import (
	"bytes"
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// assignedVariable is a line of a file .env: export PORT="50051" # comment.
var assignedVariable = regexp.MustCompile(
	`^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^#\s]*))\s*(?:#.*)?$`)

// maxVariables is how many variables of one file .env are read.
const maxVariables = 500

// EnvironmentFile returns the environment variables with an address that a file .env sets, for a project that loads it.
// The environment of the process goes before the file, so they are defaults.
func EnvironmentFile(text []byte) []Declaration {
	var all []Declaration
	number := 0
	for line := range bytes.Lines(source.TrimBOM(text)) {
		number++
		m := assignedVariable.FindSubmatch(bytes.TrimRight(line, "\r\n"))
		if m == nil || !isVariable(string(m[1])) || len(all) == maxVariables {
			continue
		}
		v := Setting(string(m[2])+string(m[3])+string(m[4]), number)
		if v.Certainty == Unknown {
			continue
		}
		v.Certainty, v.Variable = Default, string(m[1])
		all = append(all, Declaration{Name: ofEnvironment(v.Variable), Value: v})
	}
	return all
}

// ofEnvironment is the name of an environment variable that a file of the project may set.
func ofEnvironment(variable string) string { return "$" + variable + "=" }
