package sbom

import "strings"

// licences are the SPDX identifiers of the modules that probes are built from, since Go's build info has no licences.
// The licence of any other module is not known.
var licences = map[string]string{
	"stdlib":                           "BSD-3-Clause",
	"github.com/grpc-cnb/health-probe": "Apache-2.0",
	"github.com/grpc-ecosystem/grpc-health-probe": "Apache-2.0",
	"github.com/go-jose/go-jose/v4":               "Apache-2.0",
	"github.com/spiffe/go-spiffe/v2":              "Apache-2.0",
	"google.golang.org/genproto/googleapis/rpc":   "Apache-2.0",
	"google.golang.org/grpc":                      "Apache-2.0",
	"google.golang.org/protobuf":                  "BSD-3-Clause",
}

// licenceOf returns the SPDX identifier of a module's licence, "" where it is not known. All modules of the Go project
// have the same licence.
func licenceOf(module string) string {
	if strings.HasPrefix(module, "golang.org/x/") {
		return "BSD-3-Clause"
	}
	return licences[module]
}
