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
	Evidence: "`grpc.NewServer`, `xds.NewGRPCServer`, a generated `RegisterXServer`, `ToServer` of " +
		"OpenTelemetry's configgrpc, `Serve` of crossplane's function-sdk-go; in a built program, `grpc.NewServer`",
	Health:   registeredByApp,
	Advice:   registerHealth,
	Security: "`grpc.Creds(...)` (`server.go`), `tls.NewListener`; by `ServeHTTP`, what serves HTTP",
	Keywords: []string{"grpc", "function-sdk-go"},
}, {
	Name: connectGo,
	Evidence: "a generated `NewXHandler` or vanguard's `NewTranscoder` in a module that serves HTTP/2: h2c, " +
		"`http.Protocols`, TLS",
	Health:   "the app, by `grpchealth.NewHandler`",
	Advice:   "mux.Handle(grpchealth.NewHandler(grpchealth.NewStaticChecker())), from connectrpc.com/grpchealth",
	Security: "`ListenAndServeTLS`, `ServeTLS` (`net/http/server.go`)",
	Keywords: []string{"connect", "http2", "HTTP2", "H2C", "ServeTLS", "autocert"},
}, {
	Name:     goZero,
	Evidence: "`zrpc.NewServer`, `zrpc.MustNewServer`",
	Health:   "the framework, from v1.3.4 on, without `Health: false` in its settings",
	Advice:   "require github.com/zeromicro/go-zero v1.3.4 or newer, leave out Health: false, and it registers it",
	Security: "`AddOptions(grpc.Creds(...))` (`zrpc/server.go`)",
	Keywords: []string{"zrpc"},
	Settings: "`ListenOn` in `etc/*.yaml`, `.json`, `.toml`",
}, {
	Name: kratos,
	Evidence: "`NewServer` of `transport/grpc`; a generated `RegisterXServer` in a file that imports it, with a " +
		"server that another module makes",
	Health:   "the framework, without `grpc.CustomHealth()`",
	Advice:   "leave out grpc.CustomHealth(), and kratos registers it",
	Security: "`grpc.TLSConfig(...)`, `grpc.Options(...)` (`transport/grpc/server.go`)",
	Keywords: []string{"grpc"},
	Settings: "`server.grpc.addr` in `configs/*.yaml`, `.json`, `.toml`",
}, {
	Name: goMicro,
	Evidence: "`NewServer` of `server/grpc`; a generated `RegisterXHandler(service.Server(), ...)` with go-micro v2 " +
		"or micro v3 and later",
	Health:   registeredByApp,
	Advice:   serveBeside(goMicro),
	Security: "`grpc.AuthTLS(...)` (`server/grpc/options.go`)",
	Keywords: []string{"grpc", "micro/v"},
}, {
	Name:     dapr,
	Evidence: "`NewService` of `service/grpc`",
	Health:   registeredByApp,
	Advice:   "give service/grpc NewServiceWithGrpcServer a server with it: " + registerHealth,
	Security: "none: the sidecar calls it (`service/grpc/service.go`)",
	Keywords: []string{"grpc"},
}, {
	Name: kitex,
	Evidence: "a generated `NewServer`, or `server.NewServer` with a generated `RegisterService`, over " +
		"protobuf stubs; `server.WithGRPC...`",
	Health:   registeredByApp,
	Advice:   serveBeside(kitex),
	Security: "`server.WithListener(tls.NewListener(...))` (`server/option.go`)",
	Keywords: []string{"kitex"},
}, {
	Name:     yarpc,
	Evidence: "`NewInbound` of `transport/grpc`",
	Health:   registeredByApp,
	Advice:   serveBeside(yarpc),
	Security: "`grpc.InboundCredentials(...)` (`transport/grpc/options.go`)",
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
