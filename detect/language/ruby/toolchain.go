package ruby

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{
	Extensions:    []string{".rb"},
	StartsSources: true,
	Folders:       []string{"ruby"},
	Launchers:     []string{"ruby", "bundle", "rails"},
	Starts:        []string{"ruby", "bundle exec"},
}
