// Package linelog writes the bridge's lines to a log whose reader may be slow or gone. Callers of [Log.Print] never
// wait, and no error in writing ends anything: lines that nobody reads in time are dropped and counted, and the log
// says how many they were as soon as it takes lines again. Begin with [New].
package linelog

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// maxQueued is how many lines wait for the log's reader. An outcome has at most twenty lines of 1 KiB.
const maxQueued = 64

// Log is a log of lines. Many goroutines may use it at once.
type Log struct {
	to     io.Writer
	prefix string

	mu      sync.Mutex // of everything below
	queue   []string
	unsaid  int           // dropped lines that the log does not mention yet
	dropped int           // all dropped lines
	written chan struct{} // closed when the queue is written; nil while nothing is being written
}

// New returns a log that begins each line with a prefix. A write that blocks keeps a goroutine and nothing else.
func New(to io.Writer, prefix string) *Log { return &Log{to: to, prefix: prefix} }

// Print has lines written.
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

// Flush waits until all lines are written, and no longer than patience.
func (l *Log) Flush(patience time.Duration) {
	l.mu.Lock()
	written := l.written
	l.mu.Unlock()
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-time.After(patience):
	}
}

// Dropped returns how many lines were dropped.
func (l *Log) Dropped() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// drop counts lines that are not written. l is locked.
func (l *Log) drop(lines int) {
	l.unsaid += lines
	l.dropped += lines
}

// write writes the queue, up to the first error: the next line begins again.
func (l *Log) write(written chan struct{}) {
	defer close(written)
	for {
		text, unsaid, ok := l.next()
		if !ok {
			return
		}
		if _, err := io.WriteString(l.to, l.prefix+text+"\n"); err != nil {
			l.fail(unsaid)
			return
		}
	}
}

// next takes the first line of the queue. After the last one it returns a line about the unsaid ones.
func (l *Log) next() (text string, unsaid int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		text = l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		return text, 0, true
	}
	if unsaid, l.unsaid = l.unsaid, 0; unsaid > 0 {
		return fmt.Sprintf("dropped %d lines of this log: nothing read them in time", unsaid), unsaid, true
	}
	l.written = nil
	return "", 0, false
}

// fail counts what could not be written: a line, or the line about unsaid ones.
func (l *Log) fail(unsaid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written = nil
	if l.unsaid += unsaid; unsaid == 0 {
		l.drop(1)
	}
}
