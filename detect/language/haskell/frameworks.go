package haskell

import "github.com/grpc-cnb/health-probe/detect/analyzer"

// None of the frameworks has a health service.
const (
	// grapesy runs the app's handlers (grapesy/src/Network/GRPC/Server/Run.hs).
	grapesy = "grapesy"
	// grpcHaskell runs the handlers in the options (src/Network/GRPC/HighLevel/Server/Unregistered.hs). A generated
	// function xServer runs the handlers of a single service, with separate options.
	grpcHaskell = "grpc-haskell"
	// warpGRPC makes an application for Warp from the app's handlers (warp-grpc/src/Network/GRPC/Server.hs,
	// warp-grpc/src/Network/GRPC/Server/Wai.hs).
	warpGRPC = "warp-grpc"
	// muHaskell makes an application from a server of Mu, on top of warp-grpc (grpc/server/src/Mu/GRpc/Server.hs).
	muHaskell = "mu-haskell"
)

var frameworks = []analyzer.Framework{{
	Name:     grapesy,
	Keywords: []string{"Network.GRPC."},
	Evidence: "`runServerWithHandlers`, `runServer`, `forkServer` of `Network.GRPC.Server.Run`; `mkGrpcServer`",
	Health:   "the app, by the methods of a `Health` of its own (`ProtobufMethodsOf Health`)",
	Advice: "generate code from grpc/health/v1/health.proto with proto-lens-protoc, write methods :: Methods IO " +
		"(ProtobufMethodsOf Health) whose check answers HealthCheckResponse'SERVING, and add them to the server's " +
		"handlers",
}, {
	Name: grpcHaskell, SpeaksFirst: true,
	Keywords: []string{"Network.GRPC."},
	Port:     analyzer.DefaultPort{Number: 50051, Source: "src/Network/GRPC/HighLevel/Generated.hs"},
	Evidence: "`serverLoop`; `defaultServiceOptions` or `ServiceOptions {...}`, which a generated `xServer` takes; " +
		"`withServer` of `Network.GRPC.LowLevel`",
	Health: "the app, by a handler of `/grpc.health.v1.Health/Check`, or by the generated `healthServer`",
	Advice: "generate code from grpc/health/v1/health.proto with compile-proto-file, and add UnaryHandler " +
		"\"/grpc.health.v1.Health/Check\" check to optNormalHandlers, where check answers SERVING",
}, {
	Name:     warpGRPC,
	Keywords: []string{"Network.GRPC."},
	Evidence: "`runGrpc`, `grpcApp`, `grpcService` of `Network.GRPC.Server`",
	Health:   "the app, by a handler of `RPC Health \"check\"`",
	Advice: "generate code from grpc/health/v1/health.proto with proto-lens-protoc, and add " +
		"unary (RPC :: RPC Health \"check\") check to the server's handlers, where check answers " +
		"HealthCheckResponse'SERVING",
}, {
	Name:     muHaskell,
	Keywords: []string{"Mu.GRpc.Server", "Mu.Server.GRpc"},
	Evidence: "`runGRpcApp` and `gRpcApp` of `Mu.GRpc.Server`, and their kin",
	Health:   "the app, by a `Health` server of its own (`ServerT '[] info Health`)",
	Advice: "describe grpc/health/v1/health.proto with the quasi-quoter grpc of Mu.Quasi.GRpc, write a server of " +
		"Health whose Check answers SERVING, and serve both with gRpcMultipleApp",
}}
