package detect

import (
	"strings"
	"testing"
	"time"
)

// Sources made to take long: one thing over and over.
func TestRepetitiveSourcesAreReadInTime(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"tonic #[cfg(test)] ", "#[test]tonic", "use tonic::*;a::b::new ", "use tonic::{{{", "impl a::x_server::X for Request<",
		"let x=x;.serve(x)tonic::transport::Server::builder ", "/*tonic", "r#\"tonic", "tonic::transport::Server::builder().serve(", "'tonic",
		"GRPC.Server.Supervisor,", "x = x\n GRPC.Server.start(a, x)\n", "~s(GRPC.#{", "config :grpcbox,servers:[%{grpc_opts", "\"#{GRPC.",
		"Server.create(", "a.serve(port: a,Server.create([ ", "'${Server.create", "extends AServiceBase ServiceCall ", "final a = a;b.serve(port:a)",
		"GRPCServer(transport:", "class A: ServiceProtocol ", "\"\\(GRPC", "var a = a\nGRPCServer(transport: address: .ipv4(port: a", "#\"GRPC",
	} {
		text := []byte(strings.Repeat(unit, (maxSourceBytes/8)/len(unit)))
		start := time.Now()
		rustSource("a.rs", text)
		elixirSource(text)
		dartSource(text)
		swiftSource(text)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q over and over takes %v", unit, took)
		}
	}
}
