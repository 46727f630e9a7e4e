package analyzer

import (
	"reflect"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
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
	// Extra is what only the language understands.
	Extra T

	// text and later are those of a result that [Later] returns.
	text  []byte
	later func(text []byte) *Result[T]
}

// Later returns the result of a source that proves no server, but may say something of those of other files: analyze is
// called only if some file of the app has a finding. An app in another language, which has many such sources in its web
// pages, costs little so.
func Later[T any](text []byte, analyze func(text []byte) *Result[T]) *Result[T] {
	return &Result[T]{text: text, later: analyze}
}

// Now returns the result of a source, also of one that waits for the findings of others.
func (r *Result[T]) Now() *Result[T] {
	if r == nil || r.later == nil {
		return r
	}
	return r.later(r.text)
}

// isEmpty reports whether nothing was found.
func (r *Result[T]) isEmpty() bool {
	return len(r.Findings)+len(r.Declares)+len(r.Processes)+len(r.Tests.Files) == 0 && !r.ProjectRoot && !r.Built &&
		reflect.ValueOf(&r.Extra).Elem().IsZero()
}

// File is a file of an app and what its analysis found.
type File[T any] struct {
	Path string
	Result[T]
}
