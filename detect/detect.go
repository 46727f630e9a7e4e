// Package detect is the buildpack's detect phase: it reads an app's folder and says whether the app serves gRPC, where
// that is written, and whether the standard health service (grpc.health.v1) is registered.
//
//	app folder --walk--> files a language wants --look--> facts --conclude--> []Service --Phase--> build plan
//
// Begin with Tree, the pure core, then Phase, which puts the first service into the build plan. A language is one value
// of type language, registered from its own file; dart.go is a short one to start from. Every app is untrusted: what is
// read, and how much of it, is bounded in bounds.go.
package detect

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// PlanEntry names the probe in the build plan (buildpack spec, Build Plan).
const PlanEntry = "grpc-health-probe"

// Tree returns the services that the app in folder dir serves over gRPC, the leading one first: what sources say goes
// before what built programs say, what is in folders of examples goes last of either, and then the path decides.
//
// One walk serves all languages. note gets a line for people on every piece of evidence and on everything left unread
// (nil for none); it is never called by two goroutines at once. The error is about dir itself, or it is ctx's: the
// services found until then come with it.
func Tree(ctx context.Context, dir string, note func(format string, args ...any)) ([]Service, error) {
	root, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the app folder %q: %w", dir, err)
	}
	defer unix.Close(root)

	note = serialise(note)
	facts := newWalk(ctx, min(runtime.GOMAXPROCS(0), maxReaders), note).run(root)
	if err = ctx.Err(); err != nil {
		err = fmt.Errorf("reading the app: %w", err)
	}
	return conclude(facts, note), err
}

// conclude asks each language what its facts, by path, come to.
func conclude(facts [][]fact, note func(format string, args ...any)) []Service {
	var found []Service
	for i, l := range languages {
		slices.SortFunc(facts[i], func(a, b fact) int { return cmp.Compare(a.path, b.path) })
		for _, service := range l.conclude(facts[i], note) {
			service.Language = cmp.Or(service.Language, l.name)
			found = append(found, service)
		}
	}
	slices.SortStableFunc(found, func(a, b Service) int {
		return cmp.Or(compareBool(a.Built, b.Built), compareBool(isExample(a), isExample(b)),
			cmp.Compare(a.Evidence.Path, b.Evidence.Path), cmp.Compare(a.Evidence.Line, b.Evidence.Line))
	})
	return found
}

// isExample reports whether a service lies in a folder of examples. One named "example" is none: Java's packages often lie
// in com/example.
func isExample(s Service) bool {
	path := "/" + s.Evidence.Path
	return strings.Contains(path, "/examples/") || strings.Contains(path, "/samples/")
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
