package detect_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// Five programs have one package that listens: they give it a literal, a variable of the environment with a default, a
// flag and what is not known, and the last one starts two servers.
var sharedServer = map[string]string{
	"go.mod": "module example.com/app\n\nrequire google.golang.org/grpc v1.80.0\n",
	"internal/serving/serving.go": `package serving

import (
	"net"

	"google.golang.org/grpc"
)

type options struct{ address string }

type Option func(*options)

func WithAddress(address string) Option { return func(o *options) { o.address = address } }

func Run(opts ...Option) {
	var o options
	for _, option := range opts {
		option(&o)
	}
	lis, _ := net.Listen("tcp", o.address)
	grpc.NewServer().Serve(lis)
}
`,
	"cmd/orders/main.go": program(`serving.Run(serving.WithAddress(":7001"))`),
	"cmd/stock/main.go": program(`port := os.Getenv("STOCK_PORT")
	if port == "" {
		port = "7002"
	}
	serving.Run(serving.WithAddress(":" + port))`),
	"cmd/billing/main.go": program(`address := flag.String("address", ":7003", "")
	serving.Run(serving.WithAddress(*address))`),
	"cmd/shipping/main.go": program(`serving.Run(serving.WithAddress(calculated()))`),
	"cmd/both/main.go": program(`go serving.Run(serving.WithAddress(":7004"))
	serving.Run(serving.WithAddress(":7005"))`),
}

func program(main string) string {
	return "package main\n\nimport \"example.com/app/internal/serving\"\n\nfunc main() {\n\t" + main + "\n}\n"
}

// A server that several programs start listens where the one makes it listen that is built.
func TestAServerListensWhereTheBuiltProgramSays(t *testing.T) {
	dir := t.TempDir()
	for file, text := range sharedServer {
		write(t, filepath.Join(dir, filepath.FromSlash(file)), text)
	}
	for targets, want := range map[string]string{
		"":                         "port not known",
		"./cmd/orders":             "port 7001, cmd/orders/main.go:6",
		"./cmd/stock:./cmd/orders": "port 7002 unless $STOCK_PORT is set, cmd/stock/main.go:8",
		"./cmd/billing":            "port 7003 by default, cmd/billing/main.go:6",
		"./cmd/shipping":           "port not known",
		"./cmd/both":               "port not known",
		"./cmd/...":                "port not known",
	} {
		t.Setenv("BP_GO_TARGETS", targets)
		servers := findServers(t, dir)
		if len(servers) != 1 || !strings.Contains(servers[0].String(), "; "+want+";") {
			t.Errorf("BP_GO_TARGETS=%s: %v, want %q", targets, servers, want)
		}
	}
}
