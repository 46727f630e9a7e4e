// Package linelog writes the bridge's lines to a log whose reader may be slow or gone. [Log.Print] never waits and
// never fails: lines without a reader are dropped and counted, and the log reports the number when a reader returns.
// Begin with [New].
package linelog

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// maxQueued is how many lines wait for the reader. An outcome has at most twenty lines of 1 KiB.
const maxQueued = 64

// Log is a log of lines. Many goroutines may use it at once.
type Log struct {
	to     io.Writer
	prefix string

	mu         sync.Mutex // of everything below
	queue      []string
	unreported int           // dropped lines that the log still has to report
	dropped    int           // all dropped lines
	written    chan struct{} // closed when the queue is written; nil while nothing is being written
}

// New returns a log that begins each line with a prefix. A blocked write holds a single goroutine.
func New(to io.Writer, prefix string) *Log { return &Log{to: to, prefix: prefix} }

// Print queues lines.
func (l *Log) Print(lines ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := min(len(lines), maxQueued-len(l.queue))
	l.queue = append(l.queue, lines[:taken]...)
	l.drop(len(lines) - taken)
	if l.written == nil && len(l.queue) > 0 {
		l.written = make(chan struct{})
		go l.write(l.written)
	}
}

// Flush waits until all lines are written, or for the timeout.
func (l *Log) Flush(timeout time.Duration) {
	l.mu.Lock()
	written := l.written
	l.mu.Unlock()
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-time.After(timeout):
	}
}

// Dropped returns how many lines were dropped.
func (l *Log) Dropped() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// drop counts dropped lines. l is locked.
func (l *Log) drop(lines int) {
	l.unreported += lines
	l.dropped += lines
}

// write writes the queue up to the first error. The next line tries again.
func (l *Log) write(written chan struct{}) {
	defer close(written)
	for {
		text, unreported, ok := l.next()
		if !ok {
			return
		}
		if _, err := io.WriteString(l.to, l.prefix+text+"\n"); err != nil {
			l.fail(unreported)
			return
		}
	}
}

// next takes the first line of the queue or, after the last one, the report about dropped lines.
func (l *Log) next() (text string, unreported int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		text = l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		return text, 0, true
	}
	if unreported, l.unreported = l.unreported, 0; unreported > 0 {
		return fmt.Sprintf("dropped %d lines of this log: nothing read them in time", unreported), unreported, true
	}
	l.written = nil
	return "", 0, false
}

// fail counts the line that could not be written, or the unreported lines of a failed report.
func (l *Log) fail(unreported int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written = nil
	if l.unreported += unreported; unreported == 0 {
		l.drop(1)
	}
}
