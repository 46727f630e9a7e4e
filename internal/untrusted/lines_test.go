package untrusted_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

func TestReadSettings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]untrusted.Setting{
		"# .env\n# PORT=1\nexport PORT=\"50051\" # comment\r\n HOST = 'a#b'\nNONE=\nA=b c\n1=2\n": {
			{Key: "PORT", Value: "50051", Line: 3}, {Key: "HOST", Value: "a#b", Line: 4}, {Key: "NONE", Line: 5},
		},
		"# a.toml\nname = \"a\"\n[server]\nport = 50051# comment\n[[ a.b ]]\nc-d.e = [\n  [1],\n 2]\n" +
			"g = {\n}\nh = [1,\n2]\nf = true\na = [::]:1\n[ c d ] ; comment\ni = 2": {
			{Key: "name", Value: "a", Line: 2},
			{Key: "server.port", Value: "50051", Line: 4},
			{Key: "a.b.f", Value: "true", Line: 13},
			{Key: "a.b.a", Value: "[::]:1", Line: 14},
			{Key: "c d.i", Value: "2", Line: 16},
		},
		"# b.toml\n[a]\nb = { c = \"d\", 'e' = 1 }\ngrpc = {host = 'c',port = 50051} # d\nl = [{ port = 1 }]\n": {
			{Key: "a.grpc.host", Value: "c", Line: 4}, {Key: "a.grpc.port", Value: "50051", Line: 4},
		},
		"# a.yml\nserver: {port: 50051}\n": {{Key: "server", Line: 2}, {Key: "server.port", Value: "50051", Line: 2}},
	} {
		file, _, _ := strings.Cut(text, "\n")
		documents, err := untrusted.ReadSettings(file, []byte(text))
		if got := slices.Concat(documents...); err != nil || !slices.Equal(got, want) {
			t.Errorf("of\n%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}
