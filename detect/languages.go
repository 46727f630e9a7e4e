package detect

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/language/cpp"
	"github.com/grpc-cnb/health-probe/detect/language/dart"
	"github.com/grpc-cnb/health-probe/detect/language/dotnet"
	"github.com/grpc-cnb/health-probe/detect/language/elixir"
	"github.com/grpc-cnb/health-probe/detect/language/erlang"
	"github.com/grpc-cnb/health-probe/detect/language/golang"
	"github.com/grpc-cnb/health-probe/detect/language/haskell"
	"github.com/grpc-cnb/health-probe/detect/language/jvm"
	"github.com/grpc-cnb/health-probe/detect/language/node"
	"github.com/grpc-cnb/health-probe/detect/language/php"
	"github.com/grpc-cnb/health-probe/detect/language/python"
	"github.com/grpc-cnb/health-probe/detect/language/ruby"
	"github.com/grpc-cnb/health-probe/detect/language/rust"
	"github.com/grpc-cnb/health-probe/detect/language/swift"
)

// languages are the analyzers of all languages, in the order of the table in docs/languages.md. A test holds that each
// package below detect/language is among them.
var languages = []analyzer.Analyzer{
	cpp.Analyzer,
	dotnet.Analyzer,
	dart.Analyzer,
	elixir.Analyzer,
	erlang.Analyzer,
	golang.Analyzer,
	haskell.Analyzer,
	jvm.Analyzer,
	node.Analyzer,
	php.Analyzer,
	python.Analyzer,
	ruby.Analyzer,
	rust.Analyzer,
	swift.Analyzer,
}

// titles returns the names of all languages for users, in alphabetical order.
func titles() []string {
	var titles []string
	for _, a := range languages {
		titles = append(titles, a.Language().Titles()...)
	}
	slices.Sort(titles)
	return titles
}
