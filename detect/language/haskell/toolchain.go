package haskell

import "github.com/grpc-cnb/health-probe/detect/tree/target"

var toolchain = target.Toolchain{
	Extensions: []string{".hs"},
	Folders:    []string{"haskell"},
	Starts:     []string{"cabal run", "stack run", "stack exec"},
}
