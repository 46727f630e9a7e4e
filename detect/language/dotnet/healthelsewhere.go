package dotnet

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// What a package that is not in the app maps may be the health service: app.MapShopGrpcHealth(), or
// app.MapGrpcService<Shop.HealthService>() of a class that no source declares.

// healthHelper is a call of a method whose name says that it maps the health service of gRPC.
type healthHelper struct {
	*finding.Site
	name string
}

// healthDeclared is a method, or a class, of the app's own with such a name.
type healthDeclared struct {
	*finding.Site
	name string
}

const grpcHealthName = `\w*(?:Grpc\w*Health|Health\w*Grpc)\w*`

var (
	// helperCalled matches a call of such a method, other than those of Grpc.AspNetCore.HealthChecks.
	helperCalled    = lazyregexp.New(receiver + `(?P<at>(?:Map|Use)` + grpcHealthName + `)\s*\(`)
	libraryHelpers  = lazyregexp.New(`^MapGrpcHealthChecksService$`)
	methodDeclared  = lazyregexp.New(`\b(?P<at>(?:Map|Use)` + grpcHealthName + `)\s*(?:<[^>()]*>\s*)?\(\s*this\b`)
	healthClassHead = lazyregexp.New(`\b(?:class|record)\s+(?P<at>\w*(?i:health)\w*)`)
)

func callsHelper(at *finding.Site, name string) finding.Finding {
	if libraryHelpers.MatchString(name) {
		return nil
	}
	return healthHelper{at, name}
}

func declaresHealth(at *finding.Site, name string) finding.Finding {
	return healthDeclared{at.Quiet(), name}
}

// mayBeHealth reports whether a class that is mapped may be the health service of a package that is not in the app.
func (a app) mayBeHealth(class string) bool {
	return healthNamed.MatchString(class) && !a.declared[class]
}
