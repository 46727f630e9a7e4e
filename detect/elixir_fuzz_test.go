package detect

import "testing"

func FuzzElixirSource(f *testing.F) {
	f.Add([]byte("defmodule A do\n  use GRPC.Endpoint\n  @p 1\n  {GRPC.Server.Supervisor, endpoint: A, port: @p}\nend\n"))
	f.Add([]byte("~s(GRPC.) ~S\"\"\"\nx\"\"\" ?\" ?\\\" valid?\"#{x(\"}\")}\" '' \"\"\" # Grpc.Health.V1 use GRPC.Server,\n~w"))
	f.Add([]byte("config :grpcbox, servers: [%{grpc_opts: %{}, listen_opts: %{port: port}}]\nport = port\n"))
	f.Fuzz(func(t *testing.T, text []byte) { checkSigns(t, text, elixirSource(text)) })
}
