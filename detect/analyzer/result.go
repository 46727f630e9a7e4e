package analyzer

import (
	"reflect"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// Result is the outcome of the analysis of a file. T holds facts for the file's language alone.
type Result[T any] struct {
	Findings []finding.Finding
	// Environment holds the environment variables with an address that a file such as .env sets.
	Environment map[string]address.Address
	// ProjectRoot says that the file's directory is a project: the file is a go.mod, a Cargo.toml, a pom.xml.
	ProjectRoot bool
	// Built says that the file is a built program or archive and no source.
	Built bool
	// Language is the name, in the plan, of a built program's language, "" for the definition's language.
	Language string
	// Tests are the declarations for tests only in a BUILD file of Bazel.
	Tests source.BazelTests
	// Services are the full names of the services in a .proto file, or in code generated from a .proto file.
	Services []string
	// Health are the health services that the file defines. .proto files are read for all languages.
	Health HealthDefinitions
	// Extra holds the facts for the language alone.
	Extra T
}

func (r *Result[T]) isEmpty() bool {
	return len(r.Findings)+len(r.Environment)+len(r.Tests.Files)+len(r.Services) == 0 &&
		!r.ProjectRoot && !r.Built && r.Health == (HealthDefinitions{}) &&
		reflect.ValueOf(&r.Extra).Elem().IsZero()
}

// File is a file of an app with the result of its analysis.
type File[T any] struct {
	Path string
	Result[T]
}
