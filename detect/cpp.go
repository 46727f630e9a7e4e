package detect

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/appyaml"
)

func init() {
	register(language{
		name:       "cpp",
		title:      "C++",
		frameworks: cppFrameworks,
		wants:      cppWants,
		look:       cppLook,
		conclude:   cppConclude,
	})
}

var cppFrameworks = []framework{
	{cppGRPC, "`BuildAndStart()` of a `grpc::ServerBuilder`; where nothing calls it, `RegisterService` or an implementation of a " +
		"generated `X::Service`; in a built program, the symbol of `BuildAndStart`",
		"the app, by `grpc::EnableDefaultHealthCheckService(true)`",
		"grpc::EnableDefaultHealthCheckService(true); before the server is built, from <grpcpp/health_check_service_interface.h>"},
	{cppUserver, "`ugrpc::server::ServerComponent`", "the app, by `ugrpc::server::HealthComponent`",
		".Append<ugrpc::server::HealthComponent>() to the component list, from <userver/ugrpc/server/health/component.hpp>, and " +
			"its section in the static config"},
}

const (
	cppGRPC    = "grpc++"
	cppUserver = "userver"
)

var cppEndings = []string{".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hh", ".hpp", ".hxx", ".ipp"}

// cppNotOwn are folders whose code is in no program of the app: tests, what the build writes or fetches, and other people's
// code, which C++ projects keep under many names.
var cppNotOwn = []string{
	"test", "tests", "testing", "testdata", "test_package", "unittest", "unittests", "unit_test", "unit_tests", "gtest", "gmock",
	"mock", "mocks", "ut", "functional_tests", "integration_tests", "e2e", "fuzz", "fuzzing",
	"third_party", "third-party", "thirdparty", "3rdparty", "3rd_party", "3rd-party", "external", "externals", "extern", "deps", "submodules",
	"subprojects", "_deps", "vcpkg_installed", "conan", "build", "out", "debug", "release", "cmakefiles",
}

var (
	cppBuilds = regexp.MustCompile(`^(?:bazel-|cmake-build-|build[-_])`)
	cppTests  = regexp.MustCompile(`(?i:^test_|^mock_|[_-](?:test|tests|unittest|unittests|ut|mock|benchmark)$)|[a-z]Tests?$`)
	cppStub   = regexp.MustCompile(`\.pb\.\w+$|_mock\.grpc\.`)
)

func cppWants(p string) bool {
	name := path.Base(p)
	ext := path.Ext(name)
	switch {
	case slices.Contains(cppEndings, ext):
		return cppOwn(path.Dir(p)) && !cppStub.MatchString(name) && !cppTests.MatchString(strings.TrimSuffix(name, ext))
	case name == "CMakeLists.txt", name == "static_config.yaml":
		return cppOwn(path.Dir(p))
	}
	return namedLikeProgram(name) && !strings.Contains(name, ".so.") && !cppTests.MatchString(name) && cppOwn(path.Dir(p))
}

func cppOwn(dir string) bool {
	for folder := range strings.SplitSeq(dir, "/") {
		if slices.Contains(cppNotOwn, strings.ToLower(folder)) || cppBuilds.MatchString(folder) {
			return false
		}
	}
	return true
}

func cppLook(f *file) (*sheet, error) {
	name := path.Base(f.path)
	ext := path.Ext(name)
	if !slices.Contains(cppEndings, ext) && ext != ".txt" && ext != ".yaml" {
		return f.program(readCppProgram)
	}
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	switch ext {
	case ".txt":
		return cppProject(text), nil
	case ".yaml":
		return cppUserverConfig(text)
	}
	return cppSource(text), nil
}

var cmakeProject = regexp.MustCompile(`(?im)^\s*project\s*\(`)

// cppProject tells a project from a folder of one.
func cppProject(text []byte) *sheet {
	if !cmakeProject.Match(text) {
		return nil
	}
	return &sheet{root: true}
}

// cppUserverConfig takes the port of the server's section in userver's static config.
func cppUserverConfig(text []byte) (*sheet, error) {
	if !bytes.Contains(text, []byte("grpc-server")) {
		return nil, nil
	}
	documents, err := appyaml.Read(text)
	for _, document := range documents {
		if port, ok := document.Get("components_manager.components.grpc-server.port"); ok {
			return &sheet{signs: []sign{{kind: listens, port: statedPort(port.Value)}}}, err
		}
	}
	return nil, err
}
