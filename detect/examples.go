package detect

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// leaveOut leaves out the servers of examples and test servers, which no program of the app is for. They count if the
// build is told to build them, and if they are all there is: if the app has neither another server nor sources of its
// own, which is asked last.
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

// withoutTestOnly leaves out what is declared for tests only, unless that is all there is or the build is told to build
// it.
func withoutTestOnly(servers []plan.Server) []plan.Server {
	isTest := func(s plan.Server) bool { return s.TestOnly && s.BuiltBy == "" }
	left := slices.DeleteFunc(slices.Clone(servers), isTest)
	if len(left) == 0 {
		return servers
	}
	return left
}

// enoughSources is how many sources beside examples make an app or a library of a tree, however many examples it has.
const enoughSources = 10

// hasOwnSources reports whether an app has sources that are not in examples or tests: as many as in examples, or
// enough. A folder of examples may have a few that all of them use.
func hasOwnSources(ctx context.Context, dir string, s *scan) bool {
	var own, examples atomic.Int64
	// Settings and manifests do not count: examples have them beside sources too.
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
	// What cannot be read was logged by the walk before.
	_ = tree.Walk(ctx, dir, tree.Visitor{Required: count, Visit: func(*tree.File) {}}, nil)
	return own.Load() > 0 && own.Load() >= min(examples.Load(), enoughSources)
}
