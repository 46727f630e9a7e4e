package source

import (
	"slices"
	"testing"
)

func TestBazelTestFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"cc_library(\n  name = \"fake\",\n  testonly = True,\n  srcs = [\"fake.cc\", \"both.cc\"],\n" +
			"  hdrs = [\"fake.h\"],\n)\n" +
			"cc_binary(\n  name = \"app\",\n  srcs = [\"main.cc\", \"both.cc\"],\n)\n": {"fake.cc", "fake.h"},
		"py_test(name = 'a', srcs = ['a_check.py'])\n":        {"a_check.py"},
		"# testonly = True\ncc_library(srcs = [\"a.cc\"])\n":  nil,
		"package(default_testonly = True)\n":                  {"*"},
		"cc_library(testonly = 1, srcs = glob([\"*.cc\"]))\n": {"*.cc"},
	} {
		if got := BazelTestFiles([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("test files of\n%s: %q, want %q", text, got, want)
		}
	}
}
