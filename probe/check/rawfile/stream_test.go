package rawfile

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// What does not fit into a pipe at once is written when its reader has made room.
func TestStreamWritesAll(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(strings.Repeat("a long report\n", 100_000))
	go func() {
		defer writer.Close()
		if n, err := Stream(writer.Fd()).Write(text); n != len(text) || err != nil {
			t.Errorf("%d of %d bytes are written: %v", n, len(text), err)
		}
	}()
	if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d of %d bytes arrive: %v", len(got), len(text), err)
	}
}

func TestStreamThatNobodyReadsIsAnError(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := Stream(writer.Fd()).Write([]byte("a line\n")); n != 0 || err == nil {
		t.Errorf("%d bytes are written, and no error is returned", n)
	}
}
