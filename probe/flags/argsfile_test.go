package flags

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArgsFileHoldsOneArgumentALine(t *testing.T) {
	t.Parallel()
	file, err := FormatArgsFile([]string{"-addr=:1", "-service", "", "-rpc-header=a: b c"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "-addr=:1\n-service\n\n-rpc-header=a: b c\n"; string(file) != want {
		t.Errorf("args file is %q, want %q", file, want)
	}
}

func TestFormatArgsFileRefusesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	const unreadable = "formatting args file: argument 2 has a line break or a zero byte"
	for word, want := range map[string]string{
		"a\nb":                             unreadable,
		"a\x00b":                           unreadable,
		strings.Repeat("a", maxArgsFile-7): "formatting args file: 65537 bytes are more than 65536",
	} {
		if _, err := FormatArgsFile([]string{"-tls=1", word}); err == nil || err.Error() != want {
			t.Errorf("formatting %.10q... gave the error %v, want %s", word, err, want)
		}
	}
	if words, err := parseArgsFile([]byte("-addr=:1\x00\n")); err == nil {
		t.Errorf("a file with a zero byte is read as %q", words)
	}
	for _, length := range []int{maxArgsFile - 1, 0} {
		word := strings.Repeat("a", length)
		file, err := FormatArgsFile([]string{word})
		if err != nil {
			t.Fatalf("formatting an argument of %d bytes: %v", length, err)
		}
		if words, err := parseArgsFile(file); err != nil || !slices.Equal(words, []string{word}) {
			t.Errorf("an argument of %d bytes is read back as %.10q..., %v", length, words, err)
		}
	}
}

func TestFormatArgsFileHidesHeaders(t *testing.T) {
	t.Parallel()
	_, err := FormatArgsFile([]string{"-rpc-header=a: s3cret\nb: s3cret"})
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error is %v, want one without the value", err)
	}
}

func TestArgsFileIsFoundWithoutProc(t *testing.T) {
	t.Parallel()
	unmounted := func() (string, error) { return "", errors.New("no /proc") }
	program := filepath.Join(t.TempDir(), "layers", "probe", "bin")
	if got := configPath(unmounted, "grpc_health_probe", ArgsFileName); got != "" {
		t.Errorf("for a relative name the args file is %q, want none", got)
	}
	if got := configPath(unmounted, program, ArgsFileName); got != "" {
		t.Errorf("for a missing program the args file is %q, want none", got)
	}
	if got, want := configPath(unmounted, "/", ArgsFileName), "/config/"+ArgsFileName; got != want {
		t.Errorf("for an absolute name the args file is %q, want %q", got, want)
	}
}

// FuzzArgsFile checks that what is formatted is read back as it was, and that what is read can be formatted to the same
// file.
func FuzzArgsFile(f *testing.F) {
	f.Add([]byte("-addr=:1\n-service\n\n"))
	f.Add([]byte("\n"))
	f.Add([]byte("a"))
	f.Fuzz(func(t *testing.T, file []byte) {
		words, err := parseArgsFile(file)
		if err != nil || len(file) >= maxArgsFile {
			return
		}
		formatted, err := FormatArgsFile(words)
		if err != nil {
			t.Fatalf("formatting %q: %v", words, err)
		}
		if strings.TrimSuffix(string(file), "\n") != strings.TrimSuffix(string(formatted), "\n") {
			t.Errorf("%q was read as %q and formatted as %q", file, words, formatted)
		}
		again, err := parseArgsFile(formatted)
		if err != nil || !slices.Equal(words, again) {
			t.Errorf("%q was read back as %q, %v", words, again, err)
		}
	})
}
