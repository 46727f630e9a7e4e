package probe

import (
	"fmt"
	"strings"
	"testing"
)

func TestPortFileComesBack(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{
		"main.go:12": "main.go:12", "a b.go:1": "a b.go:1", "": "", "a\nb": "a b",
	} {
		port, got, err := parsePortFile(FormatPortFile(50051, place))
		if port != "50051" || got != want || err != nil {
			t.Errorf("%q came back as %q, %q, %v", place, port, got, err)
		}
	}
}

func TestPortFileOfOthersIsAnError(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "\n", "0 a", "-1 a", "70000 a", "s3cret 1", "50051\x00 a"} {
		port, _, err := parsePortFile([]byte(file))
		if err == nil {
			t.Errorf("%q is port %q", file, port)
		}
		// The file may have been replaced by a link to any other, such as a secret.
		if first, _, _ := strings.Cut(file, " "); first != "" && strings.Contains(fmt.Sprint(err), first) {
			t.Errorf("of %q the error has what is in the file: %v", file, err)
		}
	}
}
