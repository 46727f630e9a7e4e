package tree

import (
	"debug/elf"
	"errors"
	"io"
	"testing"
)

func TestFileInMemoryIsReadAsOneOnDisk(t *testing.T) {
	t.Parallel()
	f := NewText("bin/a", []byte(elf.ELFMAG+" and more"))
	part := make([]byte, 3)
	if n, err := f.ReadAt(part, 1); n != 3 || err != nil || string(part) != "ELF" {
		t.Errorf("read %q, %v", part[:n], err)
	}
	if _, err := f.ReadAt(part, 100); !errors.Is(err, io.EOF) {
		t.Errorf("behind its end: %v", err)
	}
	if size, err := f.Size(); size != 13 || err != nil {
		t.Errorf("size %d, %v", size, err)
	}
	called := false
	if _, err := ReadELF(f, func(io.ReaderAt) (*int, error) { called = true; return nil, nil }); err != nil || !called {
		t.Errorf("it is no program: %v", err)
	}
}
