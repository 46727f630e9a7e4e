package golang

import (
	"bytes"
	"errors"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// goZeroVersion is the version of go-zero in a go.mod. Versions from goZeroWithHealth on register the health service.
var goZeroVersion = lazyregexp.New(`github\.com/zeromicro/go-zero\s+(v\S+)`)

const goZeroWithHealth = "v1.3.4"

func analyzeModule(text []byte) (*analyzer.Result[Extra], error) {
	module := &analyzer.Result[Extra]{ProjectRoot: true}
	module.Extra.ModulePath = modfile.ModulePath(text)
	if module.Extra.ModulePath == "" {
		return module, errors.New("no module line")
	}
	module.Extra.GoZeroHealth = true
	if m := goZeroVersion.FindSubmatch(text); m != nil {
		module.Extra.GoZeroHealth = semver.Compare(string(m[1]), goZeroWithHealth) >= 0
	}
	module.Extra.RequiresGRPC = bytes.Contains(text, []byte("google.golang.org/grpc"))
	return module, nil
}
