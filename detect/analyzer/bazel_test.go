package analyzer

import "testing"

func TestFilesOfBazelsTestsAreLeftOut(t *testing.T) {
	t.Parallel()
	files := []File[[]string]{
		{Path: "a/BUILD", Result: Result[[]string]{Extra: []string{"fake_*.cc"}}},
		{Path: "a/fake_server.cc"},
		{Path: "a/server.cc"},
		{Path: "b/fake_server.cc"},
	}
	left := DropBazelTests(files, func(f File[[]string]) []string { return f.Extra })
	if len(left) != 3 || left[1].Path != "a/server.cc" {
		t.Errorf("left are %v", left)
	}
}
