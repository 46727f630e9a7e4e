// Package detect is the buildpack's detect phase: it reads an app's folder and says whether the app serves gRPC, where
// that is written, and whether the standard health service (grpc.health.v1) is registered.
//
//	app folder --walk--> files a language wants --look--> facts --conclude--> []Service --Phase--> build plan
//
// Begin with Tree, the pure core, then Phase, which puts the first service into the build plan. A language is one value
// of type language, registered from its own file; golang.go is the one to copy. Every app is untrusted: what is read,
// and how much of it, is bounded in bounds.go.
package detect

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// PlanEntry names the probe in the build plan (buildpack spec, Build Plan).
const PlanEntry = "grpc-health-probe"

// Tree returns the services that the app in folder dir serves over gRPC, the leading one first: what sources say goes
// before what built programs say, and then the path decides.
//
// One walk serves all languages. note gets a line for people on every piece of evidence and on everything left unread
// (nil for none); it is never called by two goroutines at once. The error is about dir itself, or it is ctx's: the
// services found until then come with it.
func Tree(ctx context.Context, dir string, note func(format string, args ...any)) ([]Service, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the app folder %q: %w", dir, err)
	}
	defer root.Close()

	s := &survey{root: root, note: serialise(note), facts: make([][]fact, len(languages))}
	s.unread.Store(maxBytes)
	err = s.run(ctx)
	return s.conclude(), err
}

// survey is one reading of one tree.
type survey struct {
	root   *os.Root
	note   func(format string, args ...any)
	unread atomic.Int64 // bytes that may still be read

	mu    sync.Mutex
	facts [][]fact // by language, as in languages
}

// run walks the tree while others read the files that the walk names.
func (s *survey) run(ctx context.Context) error {
	wanted := make(chan string, 256)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for path := range wanted {
				s.look(ctx, path)
			}
		})
	}
	w := &walker{ctx: ctx, note: s.note, visit: func(path string) {
		if slices.ContainsFunc(languages, func(l language) bool { return l.wants(path) }) {
			wanted <- path
		}
	}}
	w.folder(s.root, "", 0)
	close(wanted)
	readers.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("reading the app: %w", err)
	}
	return nil
}

// look opens a file once, however many languages want it.
func (s *survey) look(ctx context.Context, path string) {
	if ctx.Err() != nil {
		return
	}
	f := &file{root: s.root, path: path, unread: &s.unread}
	defer f.close()
	for i, l := range languages {
		if !l.wants(path) {
			continue
		}
		said, err := l.look(f)
		if err != nil {
			s.note("%s: %s", printable(path), printable(err.Error()))
		}
		if said != nil {
			s.mu.Lock()
			s.facts[i] = append(s.facts[i], fact{path, said})
			s.mu.Unlock()
		}
	}
}

func (s *survey) conclude() []Service {
	var found []Service
	for i, l := range languages {
		slices.SortFunc(s.facts[i], func(a, b fact) int { return cmp.Compare(a.path, b.path) })
		for _, service := range l.conclude(s.facts[i], s.note) {
			service.Language = cmp.Or(service.Language, l.name)
			found = append(found, service)
		}
	}
	slices.SortStableFunc(found, func(a, b Service) int {
		return cmp.Or(compareBool(a.Built, b.Built), cmp.Compare(a.Evidence.Path, b.Evidence.Path),
			cmp.Compare(a.Evidence.Line, b.Evidence.Line))
	})
	return found
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	if a == b {
		return 0
	}
	if b {
		return -1
	}
	return 1
}

func serialise(note func(format string, args ...any)) func(format string, args ...any) {
	if note == nil {
		return func(string, ...any) {}
	}
	var mu sync.Mutex
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		note(format, args...)
	}
}
