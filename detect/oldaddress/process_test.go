package address

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
)

func TestWhatAProcessGivesGoesBeforeDefaults(t *testing.T) {
	t.Parallel()
	source := Address{Host: AllInterfaces, Port: 50051, Certainty: Default}
	const onLoopback = "port 50051 on loopback by default"
	for name, test := range map[string]struct {
		command string
		givers  []string
		want    string
	}{
		"nothing":                    {"a --other 9000", []string{"--port"}, "port 50051 by default"},
		"a flag":                     {"a --port 9000", []string{"--port"}, "port 9000"},
		"the first giver":            {"A=9001 a --port 9000", []string{"--port", "$A"}, "port 9000"},
		"a variable before it":       {"a --port 9000", []string{"$PORT", "--port"}, "port 9000 unless $PORT is set"},
		"a host before it":           {"a --port 9000", []string{"$HOST", "--port"}, "port 9000"},
		"a host alone":               {"a --host localhost", []string{"--host", "--port"}, onLoopback},
		"a host and a port":          {"a --host localhost -p 90", []string{"--host", "--p"}, "port 90 on loopback"},
		"an address of a machine":    {"a --listen 127.0.0.1", []string{"--listen"}, onLoopback},
		"an address in brackets":     {"a --listen [::1]", []string{"--listen"}, onLoopback},
		"the name of this machine":   {"a --listen localhost", []string{"--listen"}, onLoopback},
		"all addresses":              {"a --listen *", []string{"--listen"}, "port 50051 by default"},
		"no host":                    {"a --listen x", []string{"--listen"}, ""},
		"a host from a variable":     {"a --host $HOST --port 90", []string{"--host", "--port"}, "port 90"},
		"a host that is not known":   {"a --host $(hostname)", []string{"--host", "--port"}, "port 50051 by default"},
		"a variable":                 {"a --port=$PORT", []string{"--port"}, "port $PORT"},
		"a variable of the process":  {"PORT=1 a --port=$PORT", []string{"--port"}, ""},
		"a variable after a host":    {"a --addr 127.0.0.1:$PORT", []string{"--addr"}, "port $PORT"},
		"a variable after a digit":   {"a --port 80$PORT", []string{"--port"}, ""},
		"a variable with a default":  {"a --addr :${PORT:-8080}", []string{"--addr"}, "port 8080 unless $PORT is set"},
		"what is no port":            {"a --port grpc", []string{"--port"}, ""},
		"an argument":                {"a 9000", []string{"1"}, "port 9000"},
		"an argument of a source":    {"python a.py 9000", []string{"1"}, "port 9000"},
		"an argument of a module":    {"python -m a 9000", []string{"1"}, "port 9000"},
		"an argument of a class":     {"java -cp b com.A 9000", []string{"1"}, ""},
		"a socket":                   {"a --addr unix:/run/a.sock", []string{"--addr"}, "unix:/run/a.sock"},
		"several that are different": {"a --port 1 --port 2", []string{"--port"}, ""},
	} {
		by := &Process{Processes: procfile.Started([]byte("web: " + test.command))}
		asker := Asker{Project: ".", File: "a", Process: by}
		v := Value{Address: source, Givers: test.givers}
		if got := NewGraph().Resolve(v, asker); got.IsKnown() != (test.want != "") ||
			got.IsKnown() && got.String() != test.want {
			t.Errorf("%s: got %q, want %q", name, got.String(), test.want)
		}
		by.IsDoubtful = true
		if got := NewGraph().Resolve(v, asker); got.IsKnown() && got.Port != source.Port {
			t.Errorf("%s: in doubt it is %q", name, got.String())
		}
	}
}
