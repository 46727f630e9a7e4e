package swift

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{
	Extensions: []string{".swift"},
	Folders:    []string{"swift"},
	Starts:     []string{"swift run"},
}
