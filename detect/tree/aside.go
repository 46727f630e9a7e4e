package tree

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Names of directories and files beside an app.
var (
	// exampleName is for directories that show or try the use of something, and belong to no program of the app.
	exampleName = lazyregexp.New(
		`^(?i:_?(?:examples?|samples?|tutorials?|snippets?)|(?:.*[-_.])?(?:examples|samples|tutorials)(?:[-_.].*)?` +
			`|tests?[-_.]?servers?(?:[-_.].*)?|bench(?:marks?)?|interop(?:[-_.].*)?|conformance)$`)
	// toolName is for tools of developers, for clients, and for proxies before the app. An image may be for such a
	// program, but more often is for another program.
	toolName = lazyregexp.New(
		`^(?i:tools?|tooling|hack|scripts?|contrib|misc|plugins?|demos?|playground|sandbox|docs?` +
			`|perf|stress|load-?tests?|e2e|tests?|testing|test-?utils?|integration[-_]?tests?` +
			`|mocks?|fakes?|dummy|stubs?|clients?|sdks?|bindings|(?:.*[-_.])?(?:proxy|sidecar)` +
			`|(?:mock|fake|dummy|stub|test|demo|bench|example|sample)s?[-_.].*` +
			`|.*[-_.](?:demo|mock|fake|stub|test|bench|example|sample)s?)$`)
	// asideFile is for a file of the same kinds, without extension.
	asideFile = lazyregexp.New(
		`^(?i:(?:mock|fake|dummy|stub|test|example|sample|bench)s?[-_.].*|client` +
			`|.*[-_.](?:mock|fake|stub|test|example|sample|bench|client)s?|.*[-_.]proxy)$`)
	// exampleFile is for a file of a benchmark.
	exampleFile = lazyregexp.New(`^(?i:bench(?:marks?)?)$`)
	// jvmRoots are the first directories of packages of the JVM. Their names have no meaning: com/example.
	jvmRoots = []string{"java", "kotlin", "scala", "com", "org", "net", "io", "dev", "edu", "me"}
)

// Aside returns the outermost directory around a file that is beside the app proper: a directory of examples, tools,
// tests, clients or proxies, or the file itself if the name of the file says so. dir is "" for a file of the app
// proper. isExample means that the file lies in examples, tutorials, benchmarks, interoperability tests or a test
// server: no programs of the app.
func Aside(file string) (dir string, isExample bool) {
	for end, c := range file {
		if c != '/' {
			continue
		}
		name := path.Base(file[:end])
		if isJVM(file) && slices.Contains(jvmRoots, name) || path.Ext(file) == ".ex" && name == "lib" {
			return dir, isExample // names of modules follow
		}
		example := exampleName.MatchString(name)
		if dir == "" && (example || toolName.MatchString(name)) {
			dir = file[:end]
		}
		isExample = isExample || example
	}
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	example := exampleFile.MatchString(name)
	if dir == "" && (example || asideFile.MatchString(name)) {
		dir = file
	}
	return dir, isExample || example
}

// isJVM reports whether a file is a source in a language with directories named for packages of the JVM.
func isJVM(file string) bool {
	return slices.Contains([]string{".java", ".kt", ".scala", ".groovy"}, path.Ext(file))
}
