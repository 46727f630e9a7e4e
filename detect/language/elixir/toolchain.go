package elixir

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{Extensions: []string{".ex"}, Folders: []string{"elixir"}, Starts: []string{"mix run"}}
