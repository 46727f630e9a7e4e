package dart

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{
	Extensions:    []string{".dart"},
	StartsSources: true,
	Folders:       []string{"dart"},
	Launchers:     []string{"dart"},
	Starts:        []string{"dart"},
}
