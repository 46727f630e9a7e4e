package php

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{Extensions: []string{".php"}, Folders: []string{"php"}, Starts: []string{"php"}}
