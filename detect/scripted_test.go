package detect

import (
	"strings"
	"testing"
	"time"
)

// Sources made to be slow, as long as one may be, are read in seconds.
func TestSlowestPythonAndRubyTakeSeconds(t *testing.T) {
	t.Parallel()
	fill := func(head, piece string) []byte {
		return []byte(head + strings.Repeat(piece, (maxSourceBytes-len(head))/len(piece)))
	}
	for name, read := range map[string]func(){
		"imports":   func() { pythonSource(fill("", "from a import (\nfrom grpc import c\n")) },
		"classes":   func() { pythonSource(fill("import grpc\n", "class A(\nclass B(grpc.C)\n")) },
		"functions": func() { pythonSource(fill("import grpc\na.add_insecure_port(b)\n", "def a(b=1\na()\n")) },
		"values": func() {
			pythonSource(fill("import grpc\na = f'"+strings.Repeat("{a}", 80)+"'\n", "s.add_insecure_port(a)\n"))
		},
		"names":    func() { pythonSource(fill("import grpc as a\n", "a.b.c ")) },
		"heredocs": func() { rubySource(fill("GRPC\n", "<<~A\n<<~B\n")) },
		"strings":  func() { rubySource(fill("GRPC\n", "%w( /a?\" ")) },
		"anycable": func() { rubySource(fill("", "AnyCable.configure rpc_host\n")) },
		"stubs":    func() { rubyStubs(fill("", "module A\n# b\n")) },
	} {
		begin := time.Now()
		read()
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}
