package python

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) { analyzertest.Layouts(t, definition, grammar.Read, ".py") }

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "a.py", Head: "import grpc\nfrom grpc_health.v1 import health\ns.add_insecure_port(b)\n",
		Units: []string{
			"A = A + A\n", "from a import A\n", "import a\n", "def a():\n    return A\n",
			"class A:\n    A = A\n", "A = os.environ.get(\"A\", A)\n", "[", "(",
			"a = grpc.server(a)\na.add_insecure_port(A)\n", "A, B = B, A\n", "if A: A = A\n", "    ",
			"def a(a=A): pass\na(A)\n",
			"from a import (\nfrom grpc import c\n", "class A(\nclass B(grpc.C)\n", "def a(b=1\na()\n",
			"s.add_insecure_port(a)\n", "health.HealthServicer()\n", "health.add(server, ", "global a\n",
			"a = f'" + strings.Repeat("{a}", 80) + "'\n", "grpc.b.c ",
			"p.add_argument('--a', ", "@click.option('--port', default=1)\n", "class A:\n  port: int = 50051\n",
			"port = 50051\ndef a(port):\n  a(port)\n", "a(port=50051, ",
			"def a():\n  port = 1\ndef b(port):\n  s.add_insecure_port(port)\n",
			"class A:\n def __init__(self, port=1):\n  A()\n", "from a import serve\nserve(50051, ",
			"def a(port):\n    ",
			"class A:\n  def b(self, port=1):\n    ", "DEFINE_integer('port', ",
			"b = a['a']['a'].get('a', ",
		},
	})
}

func FuzzSource(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "a.py",
		"import grpc as g\nPORT = 50051\nserver = g.server(None)\nserver.add_insecure_port(f'[::]:{PORT}')\n",
		"from x_pb2_grpc import (A as B, *)\nclass C(B.AServicer):\n    '''grpc\n",
		"import grpc\ns = grpc.server()\ns.add_secure_port('%s:%d' % (a, b))\na = b\nb = a\n")
}
