package php

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{
	Extensions:    []string{".php"},
	StartsSources: true,
	Folders:       []string{"php"},
	Launchers:     []string{"php"},
	Starts:        []string{"php"},
}
