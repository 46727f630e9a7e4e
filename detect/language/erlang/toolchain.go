package erlang

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{Extensions: []string{".erl"}, Folders: []string{"erlang"}}
