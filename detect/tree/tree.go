// Package tree reads the folder of an untrusted app. It walks the tree, leaves out third-party code, and opens files
// safely: no link, special file, size or name can lead outside, stop the walk or exhaust memory.
//
// Begin with [Walk]. Walk hands each required file to a function as a [File], and reads text or bytes on demand.
package tree

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Logf prints one line for users.
type Logf func(format string, args ...any)

// Serialize returns a function that passes lines on to logf, one at a time. A nil logf prints nothing.
func Serialize(logf Logf) Logf {
	if logf == nil {
		return func(string, ...any) {}
	}
	var mu sync.Mutex
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		logf(format, args...)
	}
}

// Visitor chooses files of a tree and reads them. Several goroutines call both functions at once.
type Visitor struct {
	// Required reports, by the path alone, whether a file is worth reading. The path is relative to the tree, with
	// slashes. Walk calls Required once for every file of the tree.
	Required func(path string) bool
	// Visit reads a required file. The file is closed when Visit returns.
	Visit func(f *File)
}

// Walk visits the required files below the folder dir, in no particular order, and follows no link. logf gets a line
// for everything left unread; a nil logf prints nothing. The error is about dir itself or comes from ctx: files visited
// before stay visited.
func Walk(ctx context.Context, dir string, visitor Visitor, logf Logf) error {
	root, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening the app folder %q: %w", dir, err)
	}
	defer unix.Close(root)

	newWalk(ctx, visitor, min(runtime.GOMAXPROCS(0), maxReaders), Serialize(logf)).run(root)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("reading the app: %w", err)
	}
	return nil
}
