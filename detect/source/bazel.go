package source

import (
	"slices"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// starlark is the grammar of comments and strings in Bazel's BUILD files: Python's (Starlark Language).
var starlark = Grammar{
	LineComment("#"),
	String(`"""`, `"""`, Quoting{Multiline: true}), String(`"`, `"`, Quoting{}), String(`'`, `'`, Quoting{}),
}

var (
	// bazelRule is a call that declares a target, at the beginning of a line.
	bazelRule = lazyregexp.New(`(?m)^(?P<name>\w+)[ \t]*\(`)
	// testRule are the names of rules whose targets are tests: cc_test, py_test, cc_library_test.
	testRule = lazyregexp.New(`_tests?$`)
	// programRule are the names of rules whose targets are programs: cc_binary, py_binary.
	programRule = lazyregexp.New(`_binary$`)
	testOnly    = lazyregexp.New(`\btestonly\s*=\s*(?:True|1)\b`)
	sourcesOf   = lazyregexp.New(`\b(?:srcs|hdrs)\s*=\s*(?:\w+\()?\[`)
	packageRule = lazyregexp.New(`\bdefault_testonly\s*=\s*(?:True|1)\b`)
	bazelString = lazyregexp.New(`"[^"\n]*"|'[^'\n]*'`)
)

// BazelTests are the declarations of a Bazel BUILD file for tests only, as patterns of names in the directory of the
// file.
type BazelTests struct {
	// Files are sources of tests, and of targets with testonly (Bazel, Common attributes). "*" stands for all files of
	// a package with default_testonly.
	Files []string
	// Programs are the files of Files that are in programs, which people may start by hand.
	Programs []string
}

// ReadBazelTests returns the declarations of a BUILD file for tests only. A file that is also in another target is left
// out.
func ReadBazelTests(text []byte) BazelTests {
	t := starlark.Read(text)
	all := t.Matches(packageRule)
	var tests BazelTests
	var others []string
	for _, m := range t.FindAll(bazelRule, -1) {
		name := string(t.Code[m[2]:m[3]])
		_, arguments := t.Arguments(m[1])
		code := t.Code[arguments.From:arguments.To]
		files := bazelSources(t, arguments)
		switch isTest := testRule.MatchString(name); {
		case !isTest && !all && !testOnly.Match(code):
			others = append(others, files...)
		case !isTest && programRule.MatchString(name):
			tests.Programs = append(tests.Programs, files...)
			fallthrough
		default:
			tests.Files = append(tests.Files, files...)
		}
	}
	if all {
		tests.Files = []string{"*"}
	}
	tests.Files = slices.DeleteFunc(tests.Files, func(file string) bool { return slices.Contains(others, file) })
	return tests
}

// bazelSources returns the sources in the arguments of a rule.
func bazelSources(t *Text, arguments Span) []string {
	var files []string
	for _, list := range sourcesOf.FindAllIndex(t.Code[arguments.From:arguments.To], -1) {
		_, elements := t.Arguments(arguments.From + list[1])
		for _, quoted := range bazelString.FindAll(t.Raw[elements.From:elements.To], -1) {
			files = append(files, string(quoted[1:len(quoted)-1]))
		}
	}
	return files
}
