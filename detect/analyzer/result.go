package analyzer

import (
	"reflect"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// Result is what the analysis of one file found. T is what else the file tells its language.
type Result[T any] struct {
	Findings []finding.Finding
	// Declares are the names that other files may ask for to say where a server listens.
	Declares []address.Declaration
	// ProjectRoot says that the file's directory is a project: the file is a go.mod, a Cargo.toml, a pom.xml.
	ProjectRoot bool
	// Built says that the file is a built program or archive and no source.
	Built bool
	// Extra is what only the language understands.
	Extra T
}

// isEmpty reports whether nothing was found.
func (r *Result[T]) isEmpty() bool {
	return len(r.Findings)+len(r.Declares) == 0 && !r.ProjectRoot && !r.Built &&
		reflect.ValueOf(&r.Extra).Elem().IsZero()
}

// File is a file of an app and what its analysis found.
type File[T any] struct {
	Path string
	Result[T]
}
