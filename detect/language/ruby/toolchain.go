package ruby

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{
	Extensions: []string{".rb"},
	Folders:    []string{"ruby"},
	Starts:     []string{"ruby", "bundle exec", "rails server"},
}
