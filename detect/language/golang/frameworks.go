package golang

import "github.com/grpc-cnb/health-probe/detect/analyzer"

// The frameworks' health services are as their own sources have them:
//
//	go-zero   zrpc/internal/rpcserver.go registers it from v1.3.4 on (found by git log -S RegisterHealthServer), under
//	          github.com/zeromicro; the setting Health, true by default (zrpc/config.go), turns it off
//	kratos    transport/grpc/server.go registers it from v2.0.0 on; the option CustomHealth turns it off
//	go-micro  server/grpc makes a grpc.Server and registers nothing
//	dapr      service/grpc makes a grpc.Server and registers nothing
//	yarpc     transport/grpc makes a grpc.Server and registers nothing
//	kitex     has a transport of its own and registers nothing
const (
	grpcGo    = "grpc-go"
	connectGo = "connect-go"
	goZero    = "go-zero"
	kratos    = "kratos"
	goMicro   = "go-micro"
	dapr      = "dapr"
	kitex     = "kitex"
	yarpc     = "yarpc"
)

var frameworks = []analyzer.Framework{{
	Name: grpcGo,
	Evidence: "`grpc.NewServer`, `xds.NewGRPCServer`, a generated `RegisterXServer`; in a built program, " +
		"`grpc.NewServer`",
	Health:   registeredByApp,
	Advice:   registerHealth,
	Keywords: []string{"grpc"},
}, {
	Name: connectGo,
	Evidence: "a generated `NewXHandler` or vanguard's `NewTranscoder` in a module that serves HTTP/2: h2c, " +
		"`http.Protocols`, TLS",
	Health:   "the app, by `grpchealth.NewHandler`",
	Advice:   "mux.Handle(grpchealth.NewHandler(grpchealth.NewStaticChecker())), from connectrpc.com/grpchealth",
	Keywords: []string{"connect", "http2", "HTTP2", "H2C", "ServeTLS", "autocert"},
}, {
	Name:     goZero,
	Evidence: "`zrpc.NewServer`, `zrpc.MustNewServer`",
	Health:   "the framework, from v1.3.4 on, without `Health: false` in its settings",
	Advice:   "require github.com/zeromicro/go-zero v1.3.4 or newer, leave out Health: false, and it registers it",
	Keywords: []string{"zrpc"},
	Settings: "`ListenOn` in `etc/*.yaml`",
}, {
	Name:     kratos,
	Evidence: "`NewServer` of `transport/grpc`",
	Health:   "the framework, without `grpc.CustomHealth()`",
	Advice:   "leave out grpc.CustomHealth(), and kratos registers it",
	Keywords: []string{"grpc"},
	Settings: "`server.grpc.addr` in `configs/*.yaml`",
}, {
	Name: goMicro,
	Evidence: "`NewServer` of `server/grpc`; a generated `RegisterXHandler(service.Server(), ...)` with go-micro v2 " +
		"or micro v3 and later",
	Health:   registeredByApp,
	Advice:   serveBeside(goMicro),
	Keywords: []string{"grpc", "micro/v"},
}, {
	Name:     dapr,
	Evidence: "`NewService` of `service/grpc`",
	Health:   registeredByApp,
	Advice:   "give service/grpc NewServiceWithGrpcServer a server with it: " + registerHealth,
	Keywords: []string{"grpc"},
}, {
	Name: kitex,
	Evidence: "a generated `NewServer`, or `server.NewServer` with a generated `RegisterService`, over " +
		"protobuf stubs; `server.WithGRPC...`",
	Health:   registeredByApp,
	Advice:   serveBeside(kitex),
	Keywords: []string{"kitex"},
}, {
	Name:     yarpc,
	Evidence: "`NewInbound` of `transport/grpc`",
	Health:   registeredByApp,
	Advice:   serveBeside(yarpc),
	Keywords: []string{"grpc"},
}}

const (
	registeredByApp = "the app, by `RegisterHealthServer`"
	registerHealth  = "healthpb.RegisterHealthServer(server, health.NewServer()), from google.golang.org/grpc/health " +
		"and healthpb \"google.golang.org/grpc/health/grpc_health_v1\""
)

// serveBeside is the advice for a framework whose server takes no registration.
func serveBeside(framework string) string {
	return "serve it beside " + framework + ", which cannot register it: " + registerHealth
}
