package cpp

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{Extensions: extensions, Folders: []string{"cpp", "c++", "cxx"}}
