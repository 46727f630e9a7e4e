package source

import (
	"regexp"
	"slices"
)

// starlark is how Bazel's BUILD files write comments and strings, which is Python's way (Starlark Language).
var starlark = Grammar{
	LineComment("#"),
	String(`"""`, `"""`, Quoting{Multiline: true}), String(`"`, `"`, Quoting{}), String(`'`, `'`, Quoting{}),
}

var (
	// bazelRule is a call that declares a target, at the beginning of a line.
	bazelRule = regexp.MustCompile(`(?m)^(?P<name>\w+)[ \t]*\(`)
	// testRule are the names of rules whose targets are tests: cc_test, py_test, cc_library_test.
	testRule    = regexp.MustCompile(`_tests?$`)
	testOnly    = regexp.MustCompile(`\btestonly\s*=\s*(?:True|1)\b`)
	sourcesOf   = regexp.MustCompile(`\b(?:srcs|hdrs)\s*=\s*(?:\w+\()?\[`)
	packageRule = regexp.MustCompile(`\bdefault_testonly\s*=\s*(?:True|1)\b`)
	bazelString = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'`)
)

// BazelTestFiles returns the files in the directory of a BUILD file that its rules declare for tests only: sources of
// tests, and those of targets with testonly (Bazel, Common attributes). A file that another target has too is left out;
// "*" stands for all files of a package with default_testonly.
func BazelTestFiles(text []byte) []string {
	t := starlark.Read(text)
	if t.Matches(packageRule) {
		return []string{"*"}
	}
	var tests, others []string
	for _, m := range t.FindAll(bazelRule, -1) {
		name := string(t.Code[m[2]:m[3]])
		_, all := t.Arguments(m[1])
		code := t.Code[all.From:all.To]
		files := &others
		if testRule.MatchString(name) || testOnly.Match(code) {
			files = &tests
		}
		for _, list := range sourcesOf.FindAllIndex(code, -1) {
			_, elements := t.Arguments(all.From + list[1])
			for _, quoted := range bazelString.FindAll(t.Raw[elements.From:elements.To], -1) {
				*files = append(*files, string(quoted[1:len(quoted)-1]))
			}
		}
	}
	return slices.DeleteFunc(tests, func(file string) bool { return slices.Contains(others, file) })
}
