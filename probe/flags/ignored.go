package flags

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/nearest"
)

// Ignored returns a note for each environment variable with the prefix of the flags but without a flag: a misspelt
// variable must not be ignored in silence.
func (c *CommandLine) Ignored() []string {
	known := make([]string, len(definitions))
	for i := range definitions {
		known[i] = Variable(definitions[i].name)
	}
	return IgnoredVariables(variablePrefix, known)
}

// IgnoredVariables returns a note for each environment variable whose name begins with the prefix and is not known.
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

// isOfService reports whether Kubernetes may set the variable, given without the prefix, in each pod for a Service,
// such as GRPC_HEALTH_PROBE_SERVICE_HOST for grpc-health-probe (kubernetes.io, "Accessing the Service").
func isOfService(name, value string) bool {
	name = "_" + name + "_"
	has := func(part string) bool { return strings.Contains(name, part) }
	return strings.HasSuffix(name, "_SERVICE_HOST_") || has("_SERVICE_PORT_") ||
		has("_PORT_") && (strings.Contains(value, "://") || has("_TCP_") || has("_UDP_") || has("_SCTP_"))
}
