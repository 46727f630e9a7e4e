package linelog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hangs is how long a test waits for what has to happen.
const hangs = time.Minute

// fullPipe returns a pipe that takes nothing more.
func fullPipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	var files [2]int
	if err := syscall.Pipe2(files[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	for chunk := make([]byte, 1<<16); ; {
		if _, err := syscall.Write(files[1], chunk); errors.Is(err, syscall.EAGAIN) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, fd := range files { // as a container's log is
		if err := syscall.SetNonblock(fd, false); err != nil {
			t.Fatal(err)
		}
	}
	read, write = os.NewFile(uintptr(files[0]), "read"), os.NewFile(uintptr(files[1]), "write")
	t.Cleanup(func() { read.Close(); write.Close() })
	return read, write
}

// Whoever prints to a log that is full does not wait. What the queue cannot hold is dropped, and the log says so once
// something reads it again.
func TestFullLogKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	read, write := fullPipe(t)
	log := New(write, "bridge: ")
	const lines = 10 * maxQueued
	for i := range lines {
		log.Print(fmt.Sprint("line ", i))
	}
	log.Flush(time.Millisecond)
	dropped := log.Dropped()
	if dropped < lines-maxQueued-1 || dropped >= lines {
		t.Fatalf("%d of %d lines are dropped", dropped, lines)
	}
	written := 0
	said := fmt.Sprintf("bridge: dropped %d lines of this log: nothing read them in time", dropped)
	for text := bufio.NewReader(read); ; written++ {
		line, err := text.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		line = strings.TrimSpace(strings.TrimLeft(line, "\x00"))
		if line == said {
			break
		}
		if !strings.HasPrefix(line, "bridge: line ") {
			t.Fatalf("the log has %q before %q", line, said)
		}
	}
	if written+dropped != lines {
		t.Errorf("%d lines are written and %d dropped, of %d", written, dropped, lines)
	}
}

// A log that nobody reads any more takes no lines, and has them counted.
func TestClosedLogCountsLines(t *testing.T) {
	t.Parallel()
	read, write := io.Pipe()
	read.Close()
	log := New(write, "")
	for i := range 3 {
		log.Print("line")
		log.Flush(hangs)
		if got := log.Dropped(); got != i+1 {
			t.Errorf("%d lines are dropped of %d", got, i+1)
		}
	}
}
