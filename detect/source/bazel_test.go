package source

import (
	"slices"
	"testing"
)

func TestBazelTests(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]BazelTests{
		"cc_library(\n  name = \"fake\",\n  testonly = True,\n  srcs = [\"fake.cc\", \"both.cc\"],\n" +
			"  hdrs = [\"fake.h\"],\n)\n" +
			"cc_binary(\n  name = \"app\",\n  srcs = [\"main.cc\", \"both.cc\"],\n)\n": {
			Files: []string{"fake.cc", "fake.h"},
		},
		"py_test(name = 'a', srcs = ['a_check.py'])\n":       {Files: []string{"a_check.py"}},
		"# testonly = True\ncc_library(srcs = [\"a.cc\"])\n": {},
		"package(default_testonly = True)\npy_library(srcs = ['a.py'])\npy_binary(srcs = ['b.py'])\n": {
			Files: []string{"*"}, Programs: []string{"b.py"},
		},
		"cc_library(testonly = 1, srcs = glob([\"*.cc\"]))\n": {Files: []string{"*.cc"}},
		"py_binary(testonly = 1, srcs = ['server.py'])\npy_test(srcs = ['a.py'])\n": {
			Files: []string{"server.py", "a.py"}, Programs: []string{"server.py"},
		},
	} {
		got := ReadBazelTests([]byte(text))
		if !slices.Equal(got.Files, want.Files) || !slices.Equal(got.Programs, want.Programs) {
			t.Errorf("tests of\n%s: %q, want %q", text, got, want)
		}
	}
}
