package address

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// scopes are texts that declare a name more than once. The expression after "use:" is the one whose port is wanted.
var scopes = map[string]struct {
	text string
	want int
}{
	"another function": {`
fn client() {
    addr = "http://backend:9000"
}
fn server() {
    addr = "0.0.0.0:50051"
    use: addr
}`, 50051},
	"inner before outer": {`
addr = "0.0.0.0:50050"
def serve():
    addr = "0.0.0.0:50051"
    use: addr`, 50051},
	"outer where there is no inner": {`
addr = "0.0.0.0:50050"
def client():
    addr = "0.0.0.0:9000"
def serve():
    use: addr`, 50050},
	"a condition is its function's": {`
func main() {
	port = getenv()
	if port == "" {
		port = "50051"
	}
	use: port
}`, 50051},
	"a condition with its brace on a line of its own": {`
void Main()
{
    if (args)
    {
        port = 50051;
    }
    use: port
}
void Other()
{
    port = 9000;
}`, 50051},
	"a function with its brace on a line of its own": {`
void Client()
{
    port = 9000;
}
void Main()
{
    port = 50051;
    use: port
}`, 50051},
	"two values in one function": {`
def serve():
    if tls:
        port = 50051
    else:
        port = 50052
    use: port`, 0},
	"a field that another method sets": {`
class Server:
    def __init__(self):
        self.port = 50051
    def serve(self):
        use: self.port
class Client:
    def __init__(self):
        self.port = 9000`, 50051},
	"a parameter has nothing of a function that does not pass it": {`
def client():
    port = 9000
    connect(port)
def serve(port):
    use: port`, 0},
	"a parameter has what a function passes": {`
def main():
    port = 50051
    serve(port)
def serve(port):
    use: port`, 50051},
	"a parameter of a function in brackets on another line": {`
void serve(int port)
{
    use: port
}
void main()
{
    port = 50051
    serve(port)
}
void client()
{
    port = 9000
}`, 50051},
	"a parameter of a function without brackets": {`
serve port = do
    use: port
main = do
    port = 50051
    serve port`, 50051},
	"a condition is no function": {`
def configure():
    port = 50051
def serve():
    if (port):
        use: port`, 50051},
	"a module's constant": {`
module A
  PORT = 50051
  class B
    def serve
      use: PORT
    end
  end; end`, 50051},
	"a low port":        {"use: 80", 80},
	"a count, no port":  {"use: 79", 0},
	"a port of a name":  {"port = 443\nuse: port", 443},
	"a count of a name": {"workers = 64\nuse: workers", 0},
}

func TestNamesAreLookedUpByScope(t *testing.T) {
	t.Parallel()
	for name, c := range scopes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quotes := source.Grammar{source.String(`"`, `"`, source.Quoting{})}
			text := quotes.Read([]byte(c.text))
			d := Read(text, ";\n", lazyregexp.New(`(?m)^\s*(?:self\.)?(?P<name>\w+) = `))
			from := strings.Index(c.text, "use: ") + len("use: ")
			to := from + strings.IndexByte(c.text[from:]+"\n", '\n')
			if got := d.Value(source.Span{From: from, To: to}).Local(); got != c.want {
				t.Errorf("port %d, want %d", got, c.want)
			}
		})
	}
}

func TestPortIsWhereItsNumberIsWritten(t *testing.T) {
	t.Parallel()
	grammar := source.Grammar{source.String(`"`, `"`, source.Quoting{})}
	text := grammar.Read([]byte("\nPORT = 50051\nuse: \"[::]:\" + PORT"))
	d := Read(text, "\n", lazyregexp.New(`(?m)^(?P<name>\w+) = `))
	from := strings.Index(string(text.Raw), "use: ") + len("use: ")
	if v := d.Value(source.Span{From: from, To: len(text.Raw)}); v.Local() != 50051 || v.Place.Line != 2 {
		t.Errorf("port %d on line %d", v.Local(), v.Place.Line)
	}
}
