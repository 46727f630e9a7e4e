package jvm

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
)

const (
	object        = "java/lang/Object"
	bindSignature = "(Ldemo/GreeterGrpc$Greeter;)Lio/grpc/ServerServiceDefinition;"
)

// plainClasses are classes of grpc-java's own, and those that compilers write.
var plainClasses = map[string]classTest{
	"Kotlin": {func(b *classBuilder) []byte {
		b.Text("Lkotlin/Metadata;")
		return b.Bytes("demo/Greeter", "demo/GreeterGrpcKt$GreeterCoroutineImplBase")
	}, finding.Implementation{}, "grpc-kotlin", "kotlin"},
	"Kotlin's stub": {func(b *classBuilder) []byte {
		b.Text("Lkotlin/Metadata;")
		return b.Bytes("demo/GreeterGrpcKt$GreeterCoroutineImplBase", "io/grpc/kotlin/AbstractCoroutineServerImpl")
	}, nil, "", ""},
	"ScalaPB": {func(b *classBuilder) []byte {
		b.Text("ScalaSig")
		b.Call("demo/GreeterGrpc$", "bindService", bindSignature)
		return b.Bytes("demo/Server$", object)
	}, finding.Registration{}, "ScalaPB", "scala"},
	"ScalaPB's stub": {func(b *classBuilder) []byte {
		b.Call("demo/GreeterGrpc$", "bindService", bindSignature)
		return b.Bytes("demo/GreeterGrpc$Greeter$", object)
	}, nil, "", ""},
	"reflection alone": {func(b *classBuilder) []byte {
		return b.Bytes("demo/Reflection", "demo/ServerReflectionGrpc$ServerReflectionImplBase")
	}, nil, "", ""},
	"a long and a double": {func(b *classBuilder) []byte {
		b.LongAndDouble()
		return b.Bytes("demo/Greeter", "demo/GreeterGrpc$GreeterImplBase")
	}, finding.Implementation{}, "grpc-java", ""},
}

const (
	pekkoHandler   = "(Ldemo/Greeter;Lorg/apache/pekko/actor/ClassicActorSystemProvider;)Lscala/Function1;"
	protocolConfig = "org/apache/dubbo/config/ProtocolConfig"
)

// frameworkClasses are classes of apps that use other frameworks.
var frameworkClasses = map[string]classTest{
	"fs2-grpc": {func(b *classBuilder) []byte {
		b.Text("TASTY")
		b.Call("demo/GreeterFs2Grpc$", "bindServiceResource", "()V")
		return b.Bytes("demo/Server", object)
	}, finding.Registration{}, "fs2-grpc", "scala"},
	"Mu-Scala": {func(b *classBuilder) []byte {
		b.Text("TASTY")
		b.Call("higherkindness/mu/rpc/server/GrpcServer$", "defaultServer", "()V")
		return b.Bytes("demo/Server$", object)
	}, finding.Server{}, "Mu-Scala", "scala"},
	"ZIO gRPC": {func(b *classBuilder) []byte {
		return b.Bytes("demo/Server$", object, "scalapb/zio_grpc/ServerMain")
	}, finding.Server{}, "ZIO gRPC", ""},
	"Pekko gRPC": {func(b *classBuilder) []byte {
		b.Call("demo/GreeterHandler$", "apply", pekkoHandler)
		return b.Bytes("demo/Server$", object)
	}, finding.Server{}, "Pekko gRPC", ""},
	"Akka gRPC": {func(b *classBuilder) []byte {
		b.Call("demo/GreeterHandler$", "apply", "(Ldemo/Greeter;Lakka/actor/ActorSystem;)Lscala/Function1;")
		return b.Bytes("demo/Server$", object)
	}, finding.Server{}, "Akka gRPC", ""},
	"Akka gRPC's router of health": {func(b *classBuilder) []byte {
		b.Call("demo/AbstractHealthRouter", "<init>", "(Lakka/actor/ActorSystem;)V")
		return b.Bytes("demo/Health", "demo/AbstractHealthRouter")
	}, finding.Health{}, "", ""},
	"ScalaPB, health": {func(b *classBuilder) []byte {
		b.Call("grpc/health/v1/health/HealthGrpc$", "bindService", bindSignature)
		return b.Bytes("demo/Server$", object)
	}, finding.Health{}, "", ""},
	"a handler of something else": {func(b *classBuilder) []byte {
		b.Call("demo/GreeterHandler$", "apply", "(Ldemo/Greeter;)Lscala/Function1;")
		b.Text("org/apache/pekko/")
		return b.Bytes("demo/Server$", object)
	}, nil, "", ""},
	"Pekko's stub": {func(b *classBuilder) []byte {
		b.Call("demo/GreeterHandler$", "apply", pekkoHandler)
		return b.Bytes("demo/GreeterHandler", object)
	}, nil, "", ""},
	"Play gRPC": {func(b *classBuilder) []byte {
		b.Call("demo/AbstractGreeterRouter", "<init>", "(Lakka/actor/ActorSystem;)V")
		return b.Bytes("demo/Greeter", "demo/AbstractGreeterRouter")
	}, finding.Implementation{}, "Play gRPC", ""},
	"Armeria": {func(b *classBuilder) []byte {
		b.Call("com/linecorp/armeria/server/grpc/GrpcService", "builder", "()V")
		return b.Bytes("demo/Server", object)
	}, finding.Server{}, "Armeria", ""},
	"Dubbo": {func(b *classBuilder) []byte {
		b.Call(protocolConfig, "<init>", "(Ljava/lang/String;I)V")
		b.String("tri")
		return b.Bytes("demo/Server", object)
	}, finding.Server{}, "Dubbo", ""},
	"Dubbo, another protocol": {func(b *classBuilder) []byte {
		b.Call(protocolConfig, "<init>", "(Ljava/lang/String;I)V")
		return b.Bytes("demo/Server", object)
	}, nil, "", ""},
}
