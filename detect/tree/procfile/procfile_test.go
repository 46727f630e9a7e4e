package procfile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
)

// describe says what command lines give, by names: flags begin with dashes, variables with a dollar sign, and the
// others are numbers of arguments.
func describe(ps procfile.Processes, name string) string {
	var v procfile.Value
	var ok bool
	number := 0
	switch {
	case strings.HasPrefix(name, "-"):
		v, ok = ps.Flag(strings.TrimLeft(name, "-"))
	case strings.HasPrefix(name, "$"):
		v, ok = ps.Variable(name[1:])
	default:
		fmt.Sscan(name, &number)
		v, ok = ps.Argument(number)
	}
	switch {
	case !ok:
		return "nothing"
	case v.IsUnknown:
		return "unknown " + v.Place.String()
	case v.Variable != "" && v.HasDefault:
		return fmt.Sprintf("%s or else %s %s", v.Variable, v.Text, v.Place)
	case v.Variable != "":
		return fmt.Sprintf("%s+%s %s", v.Text, v.Variable, v.Place)
	}
	return v.Text + " " + v.Place.String()
}

func TestWhatACommandLineGives(t *testing.T) {
	for name, test := range map[string]struct{ procfile, of, want string }{
		"a flag":                         {"web: ./server --port=9000\n", "--port", "9000 Procfile:1"},
		"a flag with a word of its own":  {"web: ./server -port 9000 -v\n", "-port", "9000 Procfile:1"},
		"a flag without a value":         {"web: ./server --tls --port 9000\n", "--tls", "true Procfile:1"},
		"a flag at the end":              {"web: ./server --tls\n", "--tls", "true Procfile:1"},
		"no flag":                        {"web: ./server --port 9000\n", "--tls", "nothing"},
		"a line below":                   {"# a\nworker: ./w\nweb: ./server --port 1\n", "--port", "1 Procfile:3"},
		"another process":                {"web: ./server\nworker: ./work --port 9000\n", "--port", "nothing"},
		"the only process":               {"server: ./server --port 9000\n", "--port", "9000 Procfile:1"},
		"the process grpc":               {"web: ./site\ngrpc: ./server --port 9000\n", "--port", "9000 Procfile:2"},
		"processes that differ":          {"web: a --port 1\ngrpc: b --port 2\n", "--port", "unknown Procfile:1"},
		"a variable":                     {"web: ./server --port=$PORT\n", "--port", "+PORT Procfile:1"},
		"a variable after a host":        {"web: ./server --addr=[::]:${PORT}\n", "--addr", "[::]:+PORT Procfile:1"},
		"a variable with a default":      {`web: app --addr ":${PORT:-80}"`, "--addr", "PORT or else :80 Procfile:1"},
		"two variables":                  {"web: ./server --addr $HOST:$PORT\n", "--addr", "unknown Procfile:1"},
		"what a shell calculates":        {"web: ./server --port $(./port)\n", "--port", "unknown Procfile:1"},
		"what another shell calculates":  {"web: ./server --port `./port`\n", "--port", "unknown Procfile:1"},
		"a variable before the program":  {"web: GRPC_PORT=9000 ./server\n", "$GRPC_PORT", "9000 Procfile:1"},
		"a variable by env":              {"web: exec env GRPC_PORT=9000 ./server\n", "$GRPC_PORT", "9000 Procfile:1"},
		"a variable that is exported":    {"web: export A=1; ./server\n", "$A", "1 Procfile:1"},
		"a variable by command":          {"web: command env A=1 ./server\n", "$A", "1 Procfile:1"},
		"a variable by nohup":            {"web: nohup env A=1 ./server\n", "$A", "1 Procfile:1"},
		"an argument with an equal sign": {"web: ./server A=1\n", "$A", "nothing"},
		"a shell's command":              {`web: bash -c "cd app && ./server --port 90"`, "--port", "90 Procfile:1"},
		"a quote that is not closed":     {`web: ./server --name "it --port 9000`, "--port", "9000 Procfile:1"},
		"the first argument":             {"web: ./server 9000 x\n", "1", "9000 Procfile:1"},
		"an argument of the last one":    {"web: ./migrate up && ./server 9000\n", "1", "9000 Procfile:1"},
		"an argument before a semicolon": {"web: ./server 9000; A=1;\n", "1", "9000 Procfile:1"},
		"an argument of one before":      {"web: ./migrate up && ./server\n", "1", "nothing"},
		"no such argument":               {"web: ./server 9000\n", "2", "nothing"},
		"the program itself":             {"web: ./server 9000\n", "0", "nothing"},
		"a process without a colon":      {"web ./server --port 9000\n", "--port", "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := describe(procfile.Started([]byte(test.procfile)), test.of); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestCommandLinesNamePrograms(t *testing.T) {
	ps := procfile.Started([]byte("web: cd app && exec bin/server --port 9000 ./settings.yaml\n"))
	for word, want := range map[string]bool{
		"server": true, "app": true, "settings.yaml": true, "bin": false, "--port": false,
	} {
		if got := ps.Names(word); got != want {
			t.Errorf("%s: got %t, want %t", word, got, want)
		}
	}
}

func TestLongCommandLinesAreReadInPart(t *testing.T) {
	const program, port = "web: ./server ", " --port=9000"
	command := func(bytes int) string {
		return program + strings.Repeat("x", bytes-len("./server "+port)) + port
	}
	for name, test := range map[string]struct{ procfile, want string }{
		"the last process":          {strings.Repeat("a: b\n", 99) + program + port, "9000 Procfile:100"},
		"a process too many":        {strings.Repeat("a: b\n", 100) + program + port, "nothing"},
		"the last byte":             {command(4096), "9000 Procfile:1"},
		"a byte too many":           {command(4097), "nothing"},
		"a number that is cut":      {command(4098), "nothing"},
		"a space after the last":    {command(4096) + " x", "9000 Procfile:1"},
		"one word of too many":      {program + "'" + strings.Repeat("x", 4096) + "'", "nothing"},
		"the last word":             {program + strings.Repeat("x ", 254) + port, "9000 Procfile:1"},
		"a word too many":           {program + strings.Repeat("x ", 255) + port, "nothing"},
		"a word too many in quotes": {program + "'" + strings.Repeat("x ", 255) + "'" + port, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := describe(procfile.Started([]byte(test.procfile)), "--port"); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestNamesThatCommandLinesGive(t *testing.T) {
	ps := procfile.Started([]byte("web: B=1 A=2 ./server up -v --port 90 --config=a.yaml b.json\ngrpc: A=3 ./b -v\n"))
	for of, names := range map[string]struct{ got, want []string }{
		"flags":     {ps.Flags(), []string{"config", "port", "v"}},
		"variables": {ps.Variables(), []string{"A", "B"}},
		"files":     {ps.Files(), []string{"a.yaml", "b.json"}},
	} {
		if !slices.Equal(names.got, names.want) {
			t.Errorf("%s: got %q, want %q", of, names.got, names.want)
		}
	}
}

func FuzzStarted(f *testing.F) {
	f.Add([]byte("web: A=1 exec ./server --port=$PORT -a :${B:-1}; x & y\ngrpc: bash -c 'a -b'\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		ps := procfile.Started(text)
		for _, name := range []string{"port", "a", ""} {
			if v, ok := ps.Flag(name); ok && v.Place.Path != procfile.Name {
				t.Errorf("%q: no place", v.Text)
			}
		}
	})
}
