package procfile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
)

func TestServingProcesses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ procfile, want string }{
		"web":                   {"# a\nworker: ./w\nweb: ./server --port 1\n", "web: ./server --port 1"},
		"web and grpc":          {"grpc: ./server\nweb: ./site\n", "web: ./site, grpc: ./server"},
		"the only process":      {"server: ./server\r\n", "server: ./server"},
		"several other names":   {"a: ./a\nb: ./b\n", ""},
		"a line that is no one": {"web : ./a\n ./b\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range procfile.Serving(procfile.Read([]byte(test.procfile))) {
				got = append(got, p.Name+": "+p.Command)
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWordsOfACommandLine(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		`bash -c "bin/server -v"`: {"bash", "-c", "bin/server", "-v"},
		`bin/server "-v`:          {"bin/server", `"-v`},
	} {
		if got := procfile.Words(command); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

func TestLongCommandLinesAreReadInPart(t *testing.T) {
	t.Parallel()
	if words := procfile.Words(strings.Repeat("word ", 10_000)); len(words) > 1000 || words[len(words)-1] != "word" {
		t.Errorf("%d words, the last one %q", len(words), words[len(words)-1])
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("web: A=1 ./server --port=${PORT:-80}\n"), "bash -c 'x y'")
	f.Fuzz(func(t *testing.T, text []byte, command string) {
		for _, p := range procfile.Read(text) {
			if p.Name == "" || p.Command == "" || p.Line < 1 {
				t.Errorf("a process without a name, a command or a line: %+v", p)
			}
		}
		procfile.Words(command)
	})
}
