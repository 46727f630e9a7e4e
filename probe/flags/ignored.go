package flags

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/nearest"
)

// Ignored returns a note for each variable of the environment that is named as those of flags are, and that no flag
// has: a misspelt one must not be without effect in silence.
func (c *CommandLine) Ignored() []string {
	known := make([]string, len(definitions))
	for i := range definitions {
		known[i] = Variable(definitions[i].name)
	}
	return IgnoredVariables(variablePrefix, known)
}

// IgnoredVariables returns a note for each variable of the environment whose name begins with the prefix and is none of
// the known ones.
func IgnoredVariables(prefix string, known []string) (notes []string) {
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		short, ok := strings.CutPrefix(name, prefix)
		if !ok || value == "" || slices.Contains(known, name) || isOfService(short, value) {
			continue
		}
		note := fmt.Sprintf("environment variable %q has no effect", name)
		if meant := nearest.Name(name, known); nearest.Distance(name, meant) <= len(short)/2 {
			note += ": did you mean " + meant + "?"
		}
		notes = append(notes, note)
	}
	slices.Sort(notes)
	return notes
}

// isOfService reports whether a variable, without its prefix, may be one that Kubernetes sets in each pod for a
// Service, such as GRPC_HEALTH_PROBE_SERVICE_HOST for grpc-health-probe (kubernetes.io, "Accessing the Service").
func isOfService(name, value string) bool {
	name = "_" + name + "_"
	has := func(part string) bool { return strings.Contains(name, part) }
	return strings.HasSuffix(name, "_SERVICE_HOST_") || has("_SERVICE_PORT_") ||
		has("_PORT_") && (strings.Contains(value, "://") || has("_TCP_") || has("_UDP_") || has("_SCTP_"))
}
