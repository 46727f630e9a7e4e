package ruby

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// stub is the content of a file beside its findings.
type stub struct {
	// Services are the names of the services in a generated file: the last parts of the services' modules.
	Services []string
	// LoadsEnvironment is set if the source loads a file .env.
	LoadsEnvironment bool
	// ReplacesEnvironment is set if the source loads .env over the variables that are set.
	ReplacesEnvironment bool
}

// stubService is the class of a service, with comments of the .proto file before the class, as the generator writes.
var stubService = lazyregexp.New(`(?m)^\s*module\s+(?:[\w:]*::)?(?P<name>\w+)\s*(?:#[^\n]*)?$` +
	`(?:\s*#[^\n]*$)*\s*class Service\b`)

// stubName is the full name of a generated service, and standardHealth the name of the standard health service.
var stubName = lazyregexp.New(`\bself\.service_name\s*=\s*["'](?P<name>[\w.]+)["']`)

const standardHealth = "grpc.health.v1.Health"

func analyzeStub(text []byte) *analyzer.Result[stub] {
	t := source.Uncut(text)
	result := &analyzer.Result[stub]{Extra: stub{Services: t.Names(stubService)}}
	for _, name := range t.Names(stubName) {
		isHealth := name == standardHealth
		result.Health.Standard = result.Health.Standard || isHealth
		result.Health.Own = result.Health.Own || !isHealth && strings.HasSuffix(name, ".Health")
	}
	return result
}
