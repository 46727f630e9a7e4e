package sbom

import "strings"

// licences are the SPDX identifiers of the modules in the probes and the buildpack, since Go's build info has no
// licences. The licences of other modules, and of a part of a module with a licence of its own, are unknown.
var licences = map[string]string{
	"stdlib": "BSD-3-Clause",
	"github.com/grpc-ecosystem/grpc-health-probe": "Apache-2.0",
	"dario.cat/mergo":                           "BSD-3-Clause",
	"github.com/BurntSushi/toml":                "MIT",
	"github.com/CycloneDX/cyclonedx-go":         "Apache-2.0",
	"github.com/Masterminds/semver":             "MIT",
	"github.com/Masterminds/semver/v3":          "MIT",
	"github.com/anchore/go-struct-converter":    "Apache-2.0",
	"github.com/buildpacks/libcnb/v2":           "Apache-2.0",
	"github.com/creack/pty":                     "MIT",
	"github.com/go-jose/go-jose/v4":             "Apache-2.0",
	"github.com/google/go-cmp":                  "BSD-3-Clause",
	"github.com/google/go-github/v90":           "BSD-3-Clause",
	"github.com/google/go-querystring":          "BSD-3-Clause",
	"github.com/hashicorp/go-cleanhttp":         "MPL-2.0",
	"github.com/hashicorp/go-retryablehttp":     "MPL-2.0",
	"github.com/heroku/color":                   "MIT",
	"github.com/kballard/go-shellquote":         "MIT",
	"github.com/mattn/go-colorable":             "MIT",
	"github.com/mattn/go-isatty":                "MIT",
	"github.com/mitchellh/hashstructure/v2":     "MIT",
	"github.com/onsi/gomega":                    "MIT",
	"github.com/package-url/packageurl-go":      "MIT",
	"github.com/paketo-buildpacks/libpak/v2":    "Apache-2.0",
	"github.com/spdx/tools-golang":              "Apache-2.0",
	"github.com/spiffe/go-spiffe/v2":            "Apache-2.0",
	"github.com/ulikunitz/xz":                   "BSD-3-Clause",
	"google.golang.org/genproto/googleapis/rpc": "Apache-2.0",
	"google.golang.org/grpc":                    "Apache-2.0",
	"google.golang.org/protobuf":                "BSD-3-Clause",
}

// licenceOf returns the SPDX identifier of a module's licence, "" if unknown. All modules of the Go project have the
// same licence, as have all modules of this product.
func licenceOf(module string) string {
	switch {
	case strings.HasPrefix(module, "golang.org/x/"):
		return "BSD-3-Clause"
	case strings.HasPrefix(module, "github.com/grpc-cnb/health-probe"):
		return "Apache-2.0"
	}
	return licences[module]
}
