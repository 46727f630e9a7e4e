package erlang

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) { analyzertest.Layouts(t, definition, grammar.Read, ".erl") }

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "src/a.erl", Head: "grpcbox:start_server(#{}),\n",
		Units: []string{
			"-define(A, ?A + ?A).\n", "a() -> a().\n", "-include(\"a\").\n", "{", "(",
			"grpc:start_server(a, tcp, ?A, b).\n", "A = A,\n",
			"grpc:start_server(", "grpc:start_server(a, B, c), B = B, ", "grpcbox:server_child_spec(a,b,#{port => ",
			"{grpcbox,[{servers,[#{grpc_opts", "listen_opts => #{port => P},P = P,", "'", "$'\"", "-define(A, ",
			"{enable_default_services, [", "start_server(#{", "A=1",
			"transport_opts => #{ssl => A},", "grpc:start_server(a, b, c, A),A = [A],",
		},
	}, analyzertest.Repetition{
		Path: "config/sys.config", Head: "[{grpcbox, [\n",
		Units: []string{
			"{grpcbox,[", "{servers,[#{grpc_opts=>", "listen_opts=>#{port=>${A:-", "'grpc.health.v1.Health'=> ",
		},
	})
}

func FuzzSource(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "src/a.erl",
		"-module(a).\n-define(PORT, 1).\n"+
			"f() -> grpcbox:start_server(#{grpc_opts => #{}, listen_opts => #{port => ?PORT}}).\n",
		"f(P) -> grpc:start_server(a, {{0,0,0,0}, P}, #{}, [{enable_default_services, []}]).\n",
		"[{grpcbox, [{servers, [#{grpc_opts => #{services => #{'grpc.health.v1.Health' => a}}}]}]}]. $' $\\\" \"\"\"\n")
}
