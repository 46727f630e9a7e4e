// Package ruby recognizes gRPC servers in Ruby. Begin with [Analyzer].
//
// The patterns of evidence are in rules.go for sources, and in settings.go for a Procfile or an anycable.yml. The ports
// are in ports.go. Ruby's strings need more than quote marks to be recognized, hence grammar.go and heredoc.go.
package ruby

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Analyzer recognizes gRPC servers in Ruby.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[stub]{
	Language:    analyzer.Language{Name: "ruby", Title: "Ruby", Frameworks: frameworks, Toolchain: toolchain},
	Required:    required,
	MayServe:    analyzer.Keywords(frameworks, "rpc_host").In, // of anycable.yml
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

const (
	gemfile      = "Gemfile"
	gemspecExt   = ".gemspec"
	procfile     = "Procfile"
	anyCableFile = "anycable.yml"
	// serviceStubSuffix ends the names of stubs with services. Other stubs (_pb.rb) have only messages.
	serviceStubSuffix = "_services_pb.rb"
)

// otherDirs hold code that is in no program of the app: tests (of RSpec, Minitest, Cucumber) and copies of
// dependencies.
var otherDirs = []string{"docs", "spec", "specs", "test", "tests", "features", "e2e", "mock", "mocks", "third_party"}

func required(file string) bool {
	name := path.Base(file)
	switch path.Ext(name) {
	case ".rb":
		isMessageStub := strings.HasSuffix(name, "_pb.rb") && !strings.HasSuffix(name, serviceStubSuffix)
		return !isMessageStub && !isTest(name) && !inOtherDir(file)
	case ".ru", ".rake", gemspecExt, ".proto":
		return !inOtherDir(file)
	case analyzer.EnvironmentFile:
		return name == analyzer.EnvironmentFile && !inOtherDir(file)
	}
	isKnown := slices.Contains([]string{gemfile, procfile, anyCableFile}, name)
	return (isKnown || mayBeScript(file)) && !inOtherDir(file)
}

// isTest reports whether a file has the name of a test, by the conventions of RSpec and Minitest.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_spec.rb") || strings.HasSuffix(name, "_test.rb") ||
		strings.HasPrefix(name, "test_") || name == "spec_helper.rb"
}

// inOtherDir reports whether a file is not the app's own. Bundler installs gems into vendor/bundle/ruby, or into
// bundle/ruby below another configured directory.
func inOtherDir(file string) bool {
	return tree.AnyDirIn(file, otherDirs) || strings.Contains(file, "bundle/ruby/")
}

// scriptDirs are the directories of programs in gems and Rails. The programs' names have no extension.
var scriptDirs = []string{"bin", "exe"}

func mayBeScript(file string) bool {
	return path.Ext(file) == "" && slices.Contains(scriptDirs, path.Base(path.Dir(file)))
}

func analyze(f *tree.File) (*analyzer.Result[stub], error) {
	name := path.Base(f.Path)
	if name == gemfile || path.Ext(name) == gemspecExt {
		return &analyzer.Result[stub]{ProjectRoot: true}, nil
	}
	if path.Ext(name) == "" && name != procfile && !f.IsScript(interpreter) {
		return nil, nil
	}
	text, err := f.Text()
	switch {
	case err != nil:
		return nil, err
	case name == analyzer.EnvironmentFile:
		return analyzer.Environment[stub](text), nil
	case path.Ext(name) == ".proto":
		return nil, nil
	case name == procfile:
		return analyzeProcfile(text), nil
	case name == anyCableFile:
		return analyzeAnyCable(text)
	case strings.HasSuffix(name, serviceStubSuffix):
		return analyzeStub(text), nil
	}
	return analyzeSource(text), nil
}

// interpreter is the first line of a program in Ruby. Many programs in bin are in other languages.
var interpreter = lazyregexp.New(`^#![^\n]*ruby`)

// loadsEnvironment mark sources that load a file .env. dotenv-rails does not count: it loads .env mostly for
// development.
var loadsEnvironment = source.NewKeywords("Dotenv.load", "dotenv/load", "Dotenv.overload")

// replacesEnvironment mark sources that load .env over the variables that are set.
var replacesEnvironment = source.NewKeywords("Dotenv.overload")

var keywords = analyzer.Keywords(frameworks)

func analyzeSource(text []byte) *analyzer.Result[stub] {
	loads := stub{LoadsEnvironment: loadsEnvironment.In(text), ReplacesEnvironment: replacesEnvironment.In(text)}
	if !keywords.In(text) {
		return &analyzer.Result[stub]{Extra: loads}
	}
	t := grammarOf(text).Read(text)
	found := inMain(t, analyzer.Findings(t, rules, nil))
	found = slices.Concat(found, implementations(t), analyzer.Listeners(namesIn(t), listens),
		analyzer.Findings(t, transports, nil))
	found = analyzer.Associate(t, analyzer.MarkConditional(t, found, nil))
	return &analyzer.Result[stub]{Extra: loads, Findings: append(found, analyzer.HealthChecks(t)...)}
}

var classOrModule = lazyregexp.New(`^[ \t]*(?:class|module)\b`)

// inMain returns findings with marks on the servers that are constructed outside of classes and modules: in a script.
func inMain(t *source.Text, findings []finding.Finding) []finding.Finding {
	return finding.InMain(findings, func(s finding.Server) bool { return !inClass(t, t.OfLine(s.Line)) })
}

// inClass reports whether a line lies in a class or a module, by indentation.
func inClass(t *source.Text, line int) bool {
	for indent := t.Indented(line); line >= 0; line-- {
		if before := t.Indented(line); before >= 0 && before < indent {
			indent = before
			if classOrModule.Match(t.LineCode(line)) {
				return true
			}
		}
	}
	return false
}
