package detect

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

func init() {
	register(language{
		name:       "go",
		title:      "Go",
		frameworks: goFrameworks,
		wants:      goWants,
		look:       goLook,
		conclude:   goConclude,
	})
}

// goStub is what a generated protobuf file says: that its folder holds stubs. It is told by its name alone.
type goStub struct{}

// goPackages are the import paths of a source that has signs.
type goPackages []string

// goModule is what a go.mod says.
type goModule struct {
	path string
	grpc bool // it requires gRPC, if only for a dependency
}

// goNotOwn are folders whose code is in no program of the app: tests and what serves them. Go itself leaves out testdata
// and names that begin with "_" or "."; the rest is custom.
var goNotOwn = []string{"test", "tests", "testing", "testdata", "testutil", "testutils", "testhelper", "testhelpers",
	"mock", "mocks", "e2e"}

func goWants(p string) bool {
	if !strings.HasSuffix(p, ".go") && path.Base(p) != "go.mod" && !goSettings(p) && !namedLikeProgram(path.Base(p)) {
		return false
	}
	for folder := range strings.SplitSeq(path.Dir(p), "/") {
		if strings.HasPrefix(folder, "_") || slices.Contains(goNotOwn, folder) {
			return false
		}
	}
	return !strings.HasSuffix(p, "_test.go")
}

// namedLikeProgram reports whether a file may be a built program: no extension, or what release tools append ("-1.2.3",
// ".amd64", ".bin"). Execute permission says nothing: archives and uploads lose it, mounts grant it to all.
func namedLikeProgram(name string) bool {
	ext := strings.TrimPrefix(path.Ext(name), ".")
	return ext == "" || ext == "bin" || ext == "linux" || ext == "run" || strings.ContainsAny(ext, "0123456789")
}

func goLook(f *file) (*sheet, error) {
	name := path.Base(f.path)
	switch {
	case strings.HasSuffix(name, ".pb.go"):
		return &sheet{own: goStub{}}, nil
	case strings.HasSuffix(name, ".go"):
		text, err := f.text()
		if err != nil {
			return nil, err
		}
		return goSource(name, text)
	case goSettings(f.path):
		text, err := f.text()
		if err != nil {
			return nil, err
		}
		return goSettingsPort(text)
	case name == "go.mod":
		text, err := f.text()
		if err != nil {
			return nil, err
		}
		return goModulePath(text)
	default:
		return f.program(readGoProgram)
	}
}

func goModulePath(text []byte) (*sheet, error) {
	module := modfile.ModulePath(text)
	if module == "" {
		return &sheet{root: true, own: goModule{}}, errors.New("no module line")
	}
	return &sheet{root: true, own: goModule{module, bytes.Contains(text, []byte("google.golang.org/grpc"))}}, nil
}

var goFrameworks = []framework{
	{"grpc-go", "`grpc.NewServer`, `xds.NewGRPCServer`, a generated `RegisterXServer`; in a built program, `grpc.NewServer`",
		goByHand, goRegistration},
	{"connect-go", "a generated `NewXHandler` or vanguard's `NewTranscoder` in a module that serves HTTP/2: h2c, `http.Protocols`, TLS",
		"the app, by `grpchealth.NewHandler`",
		"mux.Handle(grpchealth.NewHandler(grpchealth.NewStaticChecker())), from connectrpc.com/grpchealth"},
	{"go-zero", "`zrpc.NewServer`, `zrpc.MustNewServer`", "the framework", goRegistration},
	{"kratos", "`NewServer` of `transport/grpc`", "the framework, without `grpc.CustomHealth()`",
		"leave out grpc.CustomHealth(), and kratos registers it"},
	{"go-micro", "`NewServer` of `server/grpc`; a generated `RegisterXHandler(service.Server(), ...)` with go-micro v2 or micro v3 and later",
		goByHand, goBeside("go-micro")},
	{"dapr", "`NewService` of `service/grpc`", goByHand,
		"give service/grpc NewServiceWithGrpcServer a server with it: " + goRegistration},
	{"kitex", "a generated `NewServer` over protobuf stubs, `server.WithGRPC...`", goByHand, goBeside("kitex")},
	{"yarpc", "`NewInbound` of `transport/grpc`", goByHand, goBeside("yarpc")},
}

const (
	goByHand       = "the app, by `RegisterHealthServer`"
	goRegistration = "healthpb.RegisterHealthServer(server, health.NewServer()), from google.golang.org/grpc/health and " +
		"healthpb \"google.golang.org/grpc/health/grpc_health_v1\""
)

func goBeside(framework string) string {
	return "serve it beside " + framework + ", which cannot register it: " + goRegistration
}
