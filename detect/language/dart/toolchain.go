package dart

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{Extensions: []string{".dart"}, Folders: []string{"dart"}, Starts: []string{"dart"}}
