package address

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// maxVariables is how many variables of one file .env are read.
const maxVariables = 500

// EnvironmentFile returns the environment variables with an address that a file .env sets, for a project that loads it.
// The environment of the process goes before the file, so they are defaults.
func EnvironmentFile(text []byte) []Declaration {
	var all []Declaration
	for _, s := range untrusted.ReadLines(source.TrimBOM(text)) {
		v := Setting(s.Value, s.Line)
		if v.Certainty == Unknown || !variableNames[1].MatchString(s.Key) || len(all) == maxVariables {
			continue
		}
		v.Certainty, v.Variable = Default, s.Key
		all = append(all, Declaration{Name: ofEnvironment(v.Variable), Value: v})
	}
	return all
}

// ofEnvironment is the name of an environment variable that a file of the project may set. Some libraries do not tell
// its case.
func ofEnvironment(variable string) string { return "$" + strings.ToUpper(variable) + "=" }
