package analyzer

import (
	"reflect"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
)

// Result is what the analysis of one file found. T is what else the file tells its language.
type Result[T any] struct {
	Findings []finding.Finding
	// Declares are the names that other files may ask for to say where a server listens.
	Declares []address.Declaration
	// ProjectRoot says that the file's directory is a project: the file is a go.mod, a Cargo.toml, a pom.xml.
	ProjectRoot bool
	// Processes are those that the app's Procfile starts, if the file is that.
	Processes procfile.Processes
	// Built says that the file is a built program or archive and no source.
	Built bool
	// Language is the name, in the plan, of the language that a built program is written in, "" for the definition's.
	Language string
	// Tests are what a BUILD file of Bazel declares for tests only.
	Tests source.BazelTests
	// Services are the full names of the services that a .proto file, or code that is generated of it, defines.
	Services []string
	// Extra is what only the language understands.
	Extra T
}

// isEmpty reports whether nothing was found.
func (r *Result[T]) isEmpty() bool {
	return len(r.Findings)+len(r.Declares)+len(r.Processes)+len(r.Tests.Files)+len(r.Services) == 0 &&
		!r.ProjectRoot && !r.Built &&
		reflect.ValueOf(&r.Extra).Elem().IsZero()
}

// File is a file of an app and what its analysis found.
type File[T any] struct {
	Path string
	Result[T]
}
