package probe

import "testing"

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
	for _, file := range []string{"", "\n", "0 a", "-1 a", "70000 a", "a 1", "50051\x00 a"} {
		if port, _, err := parsePortFile([]byte(file)); err == nil {
			t.Errorf("%q is port %q", file, port)
		}
	}
}
