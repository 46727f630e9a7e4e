package detect

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

func init() {
	register(language{
		name:       "python",
		title:      "Python",
		frameworks: pythonFrameworks,
		wants:      pythonWants,
		look:       pythonLook,
		conclude:   pythonConclude,
	})
}

// pythonRoots are the files that make a folder a project: of setuptools and pyproject.toml's tools, pip, pipenv.
var pythonRoots = []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"}

// pythonNotOwn are folders whose code is in no program of the app: tests (pytest's, unittest's and common names), what
// package managers install, and vendored copies.
var pythonNotOwn = []string{"test", "tests", "testing", "testsuite", "testdata", "test_data", "testutil", "testutils", "test_util",
	"test_utils", "test_helpers", "e2e", "mock", "mocks", "site-packages", "dist-packages", "__pypackages__", "_vendor",
	"third_party", "thirdparty"}

// pythonNotOwnEndings are endings of such folders' names: "integration_tests", and setuptools' metadata.
var pythonNotOwnEndings = []string{"_test", "_tests", "-test", "-tests", ".egg", ".egg-info", ".dist-info"}

// pythonLibrary are the files of grpcio's packages that make or register servers, wherever they were copied to (pip
// install -t).
var pythonLibrary = regexp.MustCompile(`(?:^|/)(?:grpc/(?:_|aio/|beta/|experimental/|framework/)|grpc_(?:health|reflection|status|channelz|testing|tools)/)`)

func pythonOwn(p string) bool {
	for folder := range strings.SplitSeq(path.Dir(p), "/") {
		if slices.Contains(pythonNotOwn, folder) ||
			slices.ContainsFunc(pythonNotOwnEndings, func(ending string) bool { return strings.HasSuffix(folder, ending) }) {
			return false
		}
	}
	if pythonLibrary.MatchString(p) {
		return false
	}
	return !strings.HasPrefix(p, "build/lib/") && !strings.Contains(p, "/build/lib/") // setuptools' output
}

// pythonTest reports test modules: pytest's python_files and conftest.py, and Django's tests.py.
func pythonTest(name string) bool {
	return name == "test.py" || name == "tests.py" || name == "conftest.py" || strings.HasPrefix(name, "test_") ||
		strings.HasSuffix(name, "_test.py") || strings.HasSuffix(name, "_tests.py")
}

func pythonWants(p string) bool {
	switch path.Ext(p) {
	case ".py":
		return !pythonTest(path.Base(p)) && pythonOwn(p)
	case ".toml", ".cfg", ".txt", "":
		return slices.Contains(pythonRoots, path.Base(p)) && pythonOwn(p)
	}
	return false
}

// pythonStub is a file that protoc's plugins write: of grpcio-tools, grpclib and purerpc, and of protobuf itself.
var pythonStub = regexp.MustCompile(`(_pb2|_pb2_grpc|_grpc)\.py$`)

// pythonWords are of the modules of pythonAPI.
var pythonWords = lookFor("grpc", "GRPC", "gRPC", "purerpc", "pyarrow", "flwr", "kserve", "mlserver")

func pythonLook(f *file) (*sheet, error) {
	name := path.Base(f.path)
	root := slices.Contains(pythonRoots, name)
	if path.Ext(name) != ".py" || root {
		return &sheet{root: true}, nil
	}
	stub := pythonStub.MatchString(name)
	if stub && !strings.Contains(name, "health") {
		return nil, nil
	}
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	if stub {
		return pythonHealthStub(text), nil
	}
	if !pythonWords.in(text) {
		return nil, nil
	}
	return pythonSource(text), nil
}

// pythonOtherHealth is what stubs of a health service say that is not the standard one.
type pythonOtherHealth struct{}

func pythonHealthStub(text []byte) *sheet {
	if bytes.Contains(text, []byte("grpc.health.v1.Health")) {
		return nil
	}
	return &sheet{own: pythonOtherHealth{}}
}

// pythonGrammar: a raw string's backslash keeps a quote from closing it too, so a prefix changes nothing.
var pythonGrammar = grammar{
	toLineEnd("#"),
	quoted(`"""`, `"""`, quoting{multiline: true}),
	quoted(`'''`, `'''`, quoting{multiline: true}),
	quoted(`"`, `"`, quoting{}),
	quoted(`'`, `'`, quoting{}),
}

// pythonSource returns what a source says, or nil.
func pythonSource(text []byte) *sheet {
	s := pythonGrammar.read(text)
	if pythonGenerated.Match(s.code) {
		return nil
	}
	names := newPythonNames(s)
	if names.tests() {
		return nil
	}
	signs := names.signs(s)
	signs = append(signs, s.find(pythonSettings, nil)...)
	if signs = append(signs, pythonPorts(s)...); len(signs) == 0 {
		return nil
	}
	return &sheet{signs: signs}
}

// pythonGenerated: only stubs define what registers a servicer.
var pythonGenerated = regexp.MustCompile(`(?m)^def add_\w+Servicer_to_server\(`)

// pythonSettings are what Django's settings say: django_socio_grpc/settings.py has it off unless told.
var pythonSettings = []clue{{
	code:    regexp.MustCompile(`["'](?P<literal>[ ]+)["']\s*:\s*True\b`),
	literal: exactly(`ENABLE_HEALTH_CHECK`),
	sign:    sign{kind: health},
}}

var pythonFrameworks = []framework{
	{"grpcio", "`grpc.server`, `grpc.aio.server`, an `add_XServicer_to_server` or a subclass of a generated servicer outside of stubs",
		pythonByHand, pythonRegistration},
	{"grpclib", "`grpclib.server.Server`, also under betterproto", "the app, by `grpclib.health.service.Health`",
		"Server([..., Health()]), from grpclib.health.service import Health"},
	{"purerpc", "`purerpc.Server`", "the app, by a servicer of its own",
		"generate purerpc stubs of grpc/health/v1/health.proto and give the server add_service(HealthServicer's service)"},
	{"dapr", "`App` of `dapr.ext.grpc`", pythonByHand,
		"app.add_external_service(health_pb2_grpc.add_HealthServicer_to_server, health.HealthServicer()), from grpcio-health-checking"},
	{"django-grpc-framework", "a subclass of a service of `django_grpc_framework`", pythonByHand,
		"in the handlers hook: " + pythonRegistration},
	{"django-socio-grpc", "a subclass of a service of `django_socio_grpc`", "the framework, with `ENABLE_HEALTH_CHECK`",
		`GRPC_FRAMEWORK = {"ENABLE_HEALTH_CHECK": True}, in the settings`},
	{"ray-serve", "`gRPCOptions` of `ray.serve`", "nobody: its proxy answers a check of its own", pythonConnect("Ray Serve")},
	{"arrow-flight", "a subclass of `pyarrow.flight.FlightServerBase`", "nobody: pyarrow has no way to", pythonConnect("pyarrow")},
	{"flower", "`flwr.server.start_server`", "nobody: the framework has no way to", pythonConnect("Flower")},
	{"kserve", "`kserve.ModelServer`, without `enable_grpc=False`", "nobody: the framework has no way to", pythonConnect("KServe")},
	{"mlserver", "a subclass of `mlserver.MLModel`", "nobody: the framework has no way to", pythonConnect("MLServer")},
}

const (
	pythonByHand       = "the app, by `add_HealthServicer_to_server`"
	pythonRegistration = "health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server), " +
		"from grpc_health.v1 import health, health_pb2_grpc (package grpcio-health-checking)"
)

func pythonConnect(framework string) string {
	return framework + " cannot register it: give the probe -mode connect, which asks for a connection alone"
}
