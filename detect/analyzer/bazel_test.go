package analyzer

import (
	"slices"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// What a BUILD file declares for tests is left out, and its programs count if they are all there is.
func TestBazelsTests(t *testing.T) {
	t.Parallel()
	declares := source.BazelTests{Files: []string{"fake_*.cc", "try.cc"}, Programs: []string{"try.cc"}}
	build := File[struct{}]{Path: "a/BUILD", Result: Result[struct{}]{Tests: declares}}
	for _, c := range []struct {
		files, want []string
		isTestOnly  bool
	}{
		{
			[]string{"a/fake_server.cc", "a/server.cc", "a/try.cc", "b/try.cc"},
			[]string{"a/server.cc", "b/try.cc"},
			false,
		},
		{[]string{"a/fake_server.cc", "a/try.cc"}, []string{"a/try.cc"}, true},
		{[]string{"a/fake_server.cc"}, nil, false},
	} {
		files := []File[struct{}]{build}
		for _, name := range c.files {
			files = append(files, File[struct{}]{Path: name})
		}
		var left []string
		servers := func(files []File[struct{}]) (servers []plan.Server) {
			for _, f := range files[1:] {
				servers = append(servers, plan.Server{Evidence: plan.Place{Path: f.Path}})
			}
			return servers
		}
		for _, s := range withoutBazelTests(files, servers) {
			left = append(left, s.Evidence.Path)
			if s.TestOnly != c.isTestOnly {
				t.Errorf("%s of %q is for tests only: %t", s.Evidence, c.files, s.TestOnly)
			}
		}
		if !slices.Equal(left, c.want) {
			t.Errorf("of %q left are %q, want %q", c.files, left, c.want)
		}
	}
}
