package analyzer

import (
	"reflect"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// Result is what the analysis of one file found. T is what else the file tells its language.
type Result[T any] struct {
	Findings []finding.Finding
	// Environment are the environment variables with an address that the file sets, as a file .env does.
	Environment map[string]address.Address
	// ProjectRoot says that the file's directory is a project: the file is a go.mod, a Cargo.toml, a pom.xml.
	ProjectRoot bool
	// Built says that the file is a built program or archive and no source.
	Built bool
	// Language is the name, in the plan, of the language that a built program is written in, "" for the definition's.
	Language string
	// Tests are what a BUILD file of Bazel declares for tests only.
	Tests source.BazelTests
	// Services are the full names of the services that a .proto file, or code that is generated of it, defines.
	Services []string
	// Health are the services for health that the file defines. Those of .proto files are found for all languages.
	Health HealthDefinitions
	// Extra is what only the language understands.
	Extra T
}

// isEmpty reports whether nothing was found.
func (r *Result[T]) isEmpty() bool {
	return len(r.Findings)+len(r.Environment)+len(r.Tests.Files)+len(r.Services) == 0 &&
		!r.ProjectRoot && !r.Built && r.Health == (HealthDefinitions{}) &&
		reflect.ValueOf(&r.Extra).Elem().IsZero()
}

// File is a file of an app and what its analysis found.
type File[T any] struct {
	Path string
	Result[T]
}
