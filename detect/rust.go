package detect

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/apptoml"
)

func init() {
	register(language{
		name:       "rust",
		title:      "Rust",
		frameworks: rustFrameworks,
		wants:      rustWants,
		look:       rustLook,
		conclude:   rustConclude,
	})
}

const rustByHand = "the app, by `HealthServer`"

var rustFrameworks = []framework{
	{"tonic", "`Server::builder` of `tonic::transport`; `tonic::service::Routes`; an implementation of a trait of a generated " +
		"`x_server` module", "the app, by `tonic_health::server::health_reporter`",
		"let (reporter, health) = tonic_health::server::health_reporter(); " +
			"reporter.set_serving::<YourServer<YourService>>().await; and .add_service(health), with the crate tonic-health"},
	{"volo", "`Server::new`, `ServiceBuilder::new` of `volo_grpc::server`", rustByHand,
		"generate code from grpc/health/v1/health.proto with volo-build, implement its Health trait, and " +
			".add_service(ServiceBuilder::new(HealthServer::new(YourHealth)).build())"},
	{"grpcio", "`ServerBuilder::new` of `grpcio`", "the app, by `grpcio_health::create_health`",
		"let health = grpcio_health::HealthService::default(); " +
			"health.set_serving_status(\"\", grpcio_health::ServingStatus::Serving); and " +
			".register_service(grpcio_health::create_health(health)), with the crate grpcio-health"},
	{"poem-grpc", "`RouteGrpc::new`", "the app, by `poem_grpc::health_service`",
		"let (health, reporter) = poem_grpc::health_service(); reporter.set_serving::<YourServer<YourService>>(); and " +
			".add_service(health); it knows each service by name, so probe with -service"},
	{"connectrpc", "`Server` of `connectrpc`, which serves HTTP/2", "the app, by `connectrpc_health`",
		"give the server's router the health service of the crate connectrpc-health, by its install_static"},
	{"grpc-rust", "`ServerBuilder` of the crate `grpc`", rustByHand,
		"generate code from grpc/health/v1/health.proto, implement its Health trait, and " +
			"server.add_service(HealthServer::new_service_def(YourHealth))"},
}

// rustNotOwn are folders that Cargo builds into no program of the package (tests, benches, examples: the Cargo Book,
// Package Layout), what it builds (target), and custom names of crates that serve tests.
var rustNotOwn = exactly(`tests?|benches|examples|target|fuzz|mocks?|e2e|testing|testdata|fixtures|` +
	`test[-_]?(utils?|helpers?|support)|(integration|e2e)[-_]tests?|[\w-]+[-_]tests`)

// rustTestFile are files that hold a module's tests or serve them.
var rustTestFile = exactly(`tests?\.rs|tests?_.*\.rs|.*_tests?\.rs|mocks?\.rs|build\.rs`)

func rustWants(p string) bool {
	name := path.Base(p)
	if !strings.HasSuffix(p, ".rs") && name != "Cargo.toml" && !rustHealthProto(name) {
		return false
	}
	return !rustTestFile.MatchString(name) && !inFolder(p, rustNotOwn)
}

// rustHealthProto reports a file that may be a copy of grpc/health/v1/health.proto.
func rustHealthProto(name string) bool {
	return strings.HasSuffix(name, ".proto") && strings.Contains(name, "health")
}

// rustOwn is what a file says beside its signs.
type rustOwn struct {
	workspace bool     // a Cargo.toml that has crates below it
	tests     []string // paths, without ending, of modules that are compiled for tests only
	checks    bool     // stubs of grpc.health.v1 are made of it, or are in it
}

func rustLook(f *file) (*sheet, error) {
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	switch name := path.Base(f.path); {
	case name == "Cargo.toml":
		return rustManifest(text)
	case rustHealthProto(name):
		return rustProto(text), nil
	}
	return rustSource(f.path, text), nil
}

func rustManifest(text []byte) (*sheet, error) {
	var manifest struct {
		Workspace *struct{} `toml:"workspace"`
	}
	if err := apptoml.Decode(text, &manifest); err != nil {
		return &sheet{root: true}, fmt.Errorf("leaving out a file that is not TOML: %w", err)
	}
	return &sheet{root: true, own: rustOwn{workspace: manifest.Workspace != nil}}, nil
}

var rustHealthPackage = regexp.MustCompile(`(?m)^\s*package\s+grpc\.health\.v1\s*;`)

func rustProto(text []byte) *sheet {
	if !rustHealthPackage.Match(text) {
		return nil
	}
	return &sheet{own: rustOwn{checks: true}}
}

var rustWords = lookFor("tonic", "grpc", "_server::", "Server::builder", "health")

// rustSource reads the source at a path.
func rustSource(p string, text []byte) *sheet {
	decides := rustWords.in(text)
	if !decides && !bytes.Contains(text, []byte("test")) || rustIsGenerated(text) {
		return nil
	}
	s := rustGrammar.read(text)
	modules, all := rustLeaveOutTests(s)
	if all {
		return &sheet{own: rustOwn{tests: []string{strings.TrimSuffix(p, ".rs")}}}
	}
	said := &sheet{}
	if decides {
		said.signs = rustSigns(s)
	}
	own := rustOwn{tests: rustModulePaths(p, modules), checks: rustIncludesHealth.Match(text)}
	if said.signs == nil && own.tests == nil && !own.checks {
		return nil
	}
	said.own = own
	return said
}

// rustIncludesHealth is the name by which prost's and tonic's output for grpc.health.v1 is included.
var rustIncludesHealth = regexp.MustCompile(`"[^"\n]*\bgrpc\.health\.v1(?:\.rs)?"`)

// rustModulePaths returns where the modules that a file declares are: beside it, or in the folder of its name.
func rustModulePaths(p string, modules []string) []string {
	dir, name := path.Split(strings.TrimSuffix(p, ".rs"))
	if name != "main" && name != "lib" && name != "mod" {
		dir = path.Join(dir, name)
	}
	var paths []string
	for _, m := range modules {
		paths = append(paths, path.Join(dir, m))
	}
	return paths
}
