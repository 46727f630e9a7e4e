package detect

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// leaveOut leaves out the servers of examples and test servers, which belong to no program of the app. Such a server
// counts as a target of the build, or if the app has neither another server nor sources of its own. hasOwnSources is
// called last.
func (f *found) leaveOut(hasOwnSources func() bool) {
	var counting, examples []plan.Server
	for _, s := range f.servers {
		if s.IsExample && s.BuiltBy == "" {
			examples = append(examples, s)
		} else {
			counting = append(counting, s)
		}
	}
	if len(examples) > 0 && (len(counting) > 0 || hasOwnSources()) {
		f.servers, f.examples = counting, examples
	}
}

// withoutTestOnly leaves out servers declared for tests only, except targets of the build. If no server is left, all
// count.
func withoutTestOnly(servers []plan.Server) []plan.Server {
	isTest := func(s plan.Server) bool { return s.TestOnly && s.BuiltBy == "" }
	left := slices.DeleteFunc(slices.Clone(servers), isTest)
	if len(left) == 0 {
		return servers
	}
	return left
}

// enoughSources is how many sources beside examples make a tree an app or a library, however many examples there are.
const enoughSources = 10

// hasOwnSources reports whether an app has sources outside of examples and tests: as many as in examples, or
// enoughSources. A folder of examples may have a few shared sources.
func hasOwnSources(ctx context.Context, dir string, s *scan) bool {
	var own, examples atomic.Int64
	// Settings and manifests do not count: examples have such files beside sources too.
	count := func(path string) bool {
		if !s.files.IsSource(path) || !s.required(path) {
			return false
		}
		if aside, isExample := tree.Aside(path); isExample {
			examples.Add(1)
		} else if aside == "" {
			own.Add(1)
		}
		return false
	}
	// The walk before has logged unreadable files.
	_ = tree.Walk(ctx, dir, tree.Visitor{Required: count, Visit: func(*tree.File) {}}, nil)
	return own.Load() > 0 && own.Load() >= min(examples.Load(), enoughSources)
}
