package ruby

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// stub is what a file says beside findings.
type stub struct {
	// Services are the names of the services in a generated file: the last part of each one's module.
	Services []string
	// LoadsEnvironment says that the source loads a file .env.
	LoadsEnvironment bool
}

// stubService is the class of a service. The generator writes comments of the .proto file before it, as the pattern
// allows.
var stubService = regexp.MustCompile(`(?m)^\s*module\s+(?:[\w:]*::)?(?P<name>\w+)\s*(?:#[^\n]*)?$` +
	`(?:\s*#[^\n]*$)*\s*class Service\b`)

// analyzeStub returns the services of a generated file.
func analyzeStub(text []byte) *analyzer.Result[stub] {
	return &analyzer.Result[stub]{Extra: stub{Services: uncut(text).Names(stubService)}}
}

// uncut returns a text for searches that need its comments and strings. It knows no lines.
func uncut(text []byte) *source.Text { return &source.Text{Raw: text, Code: text} }
