package golang

import "github.com/grpc-cnb/health-probe/detect/analyzer"

// The frameworks' health services, by the sources of the frameworks:
//
//	go-zero   zrpc/internal/rpcserver.go registers it from v1.3.4 on (found by git log -S RegisterHealthServer), under
//	          github.com/zeromicro; the setting Health, true by default (zrpc/config.go), turns it off
//	kratos    transport/grpc/server.go registers it from v2.0.0 on; the option CustomHealth turns it off
//	go-micro  server/grpc makes a grpc.Server and registers nothing; it takes a service by its name, without its
//	          package (internal/util/grpc/grpc.go), so a handler Health answers
//	dapr      service/grpc makes a grpc.Server and registers nothing; GrpcServer() of its Server returns it
//	yarpc     transport/grpc makes a grpc.Server of its own, and answers nothing without its headers rpc-service,
//	          rpc-caller and rpc-encoding (handler.go, api/transport/request.go)
//	Fabric    shim/chaincodeserver.go of fabric-chaincode-go makes a grpc.Server for the chaincode alone
//	kitex     has a transport of its own and registers nothing; it takes a service by its name, without its package
//	          (pkg/remote/trans/nphttp2/server_handler.go), beside others from v0.9 on
const (
	grpcGo    = "grpc-go"
	connectGo = "connect-go"
	goZero    = "go-zero"
	kratos    = "kratos"
	goMicro   = "go-micro"
	dapr      = "dapr"
	kitex     = "kitex"
	yarpc     = "yarpc"
	gofr      = "GoFr"
	dubboGo   = "dubbo-go"
	fabric    = "Hyperledger Fabric"
)

var frameworks = []analyzer.Framework{{
	Name: grpcGo, SpeaksFirst: true,
	Evidence: "`grpc.NewServer`, `xds.NewGRPCServer`, a generated `RegisterXServer`, `ToServer` of " +
		"OpenTelemetry's configgrpc, `Serve` of crossplane's function-sdk-go, `AsGrpcServerService` of yokai; in a " +
		"built program, `grpc.NewServer`",
	Health:   registeredByApp,
	Advice:   registerHealth,
	Keywords: []string{"grpc", "function-sdk-go"},
	Settings: "yokai's `modules.grpc.server.address` in `config.yaml`",
}, {
	Name: connectGo,
	Evidence: "a generated `NewXHandler` or vanguard's `NewTranscoder` in a module that serves HTTP/2: h2c, " +
		"`http.Protocols`, TLS",
	Health:   "the app, by `grpchealth.NewHandler`",
	Advice:   "mux.Handle(grpchealth.NewHandler(grpchealth.NewStaticChecker())), from connectrpc.com/grpchealth",
	Keywords: []string{`connect"`, "vanguard"},
}, {
	Name: goZero, SpeaksFirst: true,
	Evidence: "`zrpc.NewServer`, `zrpc.MustNewServer`",
	Health:   "the framework, from v1.3.4 on, without `Health: false` in a file, or with `Health: true` in the source",
	Advice: "require github.com/zeromicro/go-zero v1.3.4 or newer, leave out Health: false in a file or set " +
		"Health: true in the source, and it registers it",
	Keywords: []string{"zrpc"},
	Settings: "`ListenOn` in `etc/*.yaml`, `.json`, `.toml`",
}, {
	Name: kratos, SpeaksFirst: true,
	Evidence: "`NewServer` of `transport/grpc`; a generated `RegisterXServer` in a file that imports it, with a " +
		"server that another module makes",
	Health:   "the framework, without `grpc.CustomHealth()`",
	Advice:   "leave out grpc.CustomHealth(), and kratos registers it",
	Keywords: []string{"grpc"},
	Settings: "`server.grpc.addr` in `configs/*.yaml`, `.json`, `.toml`",
}, {
	Name: goMicro, SpeaksFirst: true,
	Evidence: "`NewServer` of `server/grpc`; a generated `RegisterXHandler(service.Server(), ...)` with go-micro v2 " +
		"or micro v3 and later",
	Health: "the app, by a generated `RegisterHealthHandler`",
	Advice: "healthpb.RegisterHealthHandler(service.Server(), new(yourHealth)), with code of protoc-gen-micro for " +
		"grpc/health/v1/health.proto",
	Keywords: []string{"grpc", "micro/v"},
}, {
	Name: dapr, SpeaksFirst: true,
	Evidence: "`NewService` of `service/grpc`",
	Health:   registeredByApp,
	Advice: "healthpb.RegisterHealthServer(service.(*daprd.Server).GrpcServer(), health.NewServer()), from " +
		healthPackages,
	Keywords: []string{"grpc"},
}, {
	Name: kitex,
	Evidence: "a generated `NewServer`, or `server.NewServer` with a generated `RegisterService`, over " +
		"protobuf stubs; `server.WithGRPC...`",
	Health: "the app, by a generated `RegisterService`",
	Advice: "health.RegisterService(server, new(yourHealth)), from kitex_gen/grpc/health/v1/health, which kitex " +
		"generates from grpc/health/v1/health.proto; with kitex v0.9 or newer",
	Keywords: []string{"kitex"},
}, {
	Name: yarpc, SpeaksFirst: true,
	Evidence: "`NewInbound` of `transport/grpc`",
	Health:   "nobody: yarpc answers no call without headers of its own",
	Advice:   "yarpc cannot register it: give the probe -mode connect, which asks for a connection alone",
	Keywords: []string{"grpc"},
}, {
	Name: gofr, SpeaksFirst: true,
	Evidence: "a generated `RegisterXServerWithGofr`",
	Health:   "the app, by `health_gofr.go`, which `gofr wrap grpc server` generates",
	Advice:   "generate the server's code again, by a gofr-cli that writes health_gofr.go: gofr wrap grpc server",
	Port:     analyzer.DefaultPort{Number: gofrPort, Source: "pkg/gofr/default.go"},
	Keywords: []string{"WithGofr"},
	Settings: "`GRPC_PORT` in `configs/.env`",
}, {
	Name: dubboGo,
	Evidence: "a generated `RegisterXHandler` in a file that imports dubbo-go, unless the app gives the server " +
		"another protocol than Triple alone; `SetProviderX` beside settings for Triple",
	Health:   "the framework, in an app that imports `dubbo-go/v3/imports` or `protocol/triple/health`",
	Advice:   `import _ "dubbo.apache.org/dubbo-go/v3/imports", and dubbo-go registers it`,
	Port:     analyzer.DefaultPort{Number: dubboPort, Source: "common/constant/default.go"},
	Keywords: []string{"dubbo-go"},
	Settings: "`dubbo.protocols` in `dubbogo.yml`",
}, {
	Name: fabric, SpeaksFirst: true,
	Evidence: "`ChaincodeServer` of `fabric-chaincode-go`",
	Health:   "nobody: the chaincode's server takes no service beside its own",
	Advice:   "a chaincode cannot register it: give the probe -mode connect, which asks for a connection alone",
	Keywords: []string{"fabric-chaincode-go"},
}}

const (
	registeredByApp = "the app, by `RegisterHealthServer`"
	registerHealth  = "healthpb.RegisterHealthServer(server, health.NewServer()), from " + healthPackages
	healthPackages  = "google.golang.org/grpc/health and healthpb \"google.golang.org/grpc/health/grpc_health_v1\""
)
