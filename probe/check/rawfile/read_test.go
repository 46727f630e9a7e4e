package rawfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The greatest file that is read has exactly as many bytes as the limit says. 512 is where the buffer grows.
func TestFileOfTheLimitIsRead(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, 1, 511, 512, 513, 64 << 10} {
		path := filepath.Join(t.TempDir(), "file")
		text := strings.Repeat("a", limit)
		write(t, path, text)
		if got, err := Read(path, limit, nil); err != nil || string(got) != text {
			t.Errorf("of a file of %d bytes, %d are read: %v", limit, len(got), err)
		}
		write(t, path, text+"a")
		if got, err := Read(path, limit, nil); err == nil {
			t.Errorf("of a file with a byte more than %d, %d are read", limit, len(got))
		} else if !strings.Contains(string(Hint(err)), "smaller file") {
			t.Errorf("the hint for a file with a byte more than %d is %q", limit, Hint(err))
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
