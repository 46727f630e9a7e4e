package elixir

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) { analyzertest.Layouts(t, definition, grammar.Read, ".ex", ".exs") }

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "lib/a.ex", Head: "use GRPC.Endpoint\n",
		Units: []string{
			"@a @a + @a\n", "alias A.B\n", "def a, do: A\n", "defmodule A do\n", "{", "(",
			"{GRPC.Server.Supervisor, endpoint: A, port: @a}\n", "a = a\n", "if a do\n",
			"GRPC.Server.Supervisor,", "x = x\n GRPC.Server.start(a, x)\n", "~s(GRPC.#{",
			"config :grpcbox,servers:[%{grpc_opts", "\"#{GRPC.",
			"{GRPC.Server.Supervisor, adapter_opts: [cred: a, ip: {1}]}\n a = a\n", "transport_opts: %{ssl: a, ",
			"{GRPC.Server.Supervisor, a}\ndef a do\n port: 1,\n cred: a\nend\n",
			"{GRPC.Server.Supervisor, a}\na = [port: a, cred: a]\n",
		},
	})
}

func FuzzSource(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "lib/a.ex",
		"defmodule A do\n  use GRPC.Endpoint\n  @p 1\n  {GRPC.Server.Supervisor, endpoint: A, port: @p}\nend\n",
		"~s(GRPC.) ~S\"\"\"\nx\"\"\" ?\" ?\\\" valid?\"#{x(\"}\")}\" '' \"\"\" # Grpc.Health.V1 use GRPC.Server,\n~w",
		"config :grpcbox, servers: [%{grpc_opts: %{}, listen_opts: %{port: port}}]\nport = port\n")
}
