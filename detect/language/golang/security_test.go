package golang

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// The files of certificates and of authorities are those that the sources name, by a literal or by a default.
func TestCertificateFiles(t *testing.T) {
	for name, want := range map[string]plan.Security{
		"grpc_security.txtar/literal":            {Transport: plan.TLS, Certificate: "tls/server.crt"},
		"grpc_security.txtar/helper":             {Transport: plan.TLS, Certificate: "server.pem"},
		"grpc_security.txtar/optional":           {Transport: plan.TLS},
		"grpc_security_by_setting.txtar/default": {Transport: plan.TLS, Certificate: "/etc/app/server.crt"},
		"grpc_security.txtar/mutual": {
			Transport: plan.MutualTLS, Certificate: "/certs/tls.crt", Authority: "/certs/ca.crt",
		},
	} {
		archive, program, _ := strings.Cut(name, "/")
		got := serverIn(t, "testdata/apps/"+archive, program+"/main.go").Security
		got.Place, got.Setting = plan.Place{}, ""
		if got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A server belongs to the program that it stands in, or to those that import its package.
func TestProgramsOfServer(t *testing.T) {
	for file, want := range map[string][]string{
		"gozero_settings.txtar/shop/internal/server/grpc.go": {"shop"},
		"gozero_settings.txtar/plain/main.go":                {"plain"},
		"connect_beside_metrics.txtar/main.go":               {"."},
		"grpc_shared_server.txtar/internal/server/server.go": {"cmd/admin", "cmd/public", "examples/demo"},
	} {
		archive, file, _ := strings.Cut(file, "/")
		if got := serverIn(t, "testdata/apps/"+archive, file).Programs; !slices.Equal(got, want) {
			t.Errorf("the programs of %s in %s are %q, want %q", file, archive, got, want)
		}
	}
}

// serverIn returns the server in a file of an app.
func serverIn(t *testing.T, archive, file string) plan.Server {
	t.Helper()
	app, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	var files []analyzer.File[Extra]
	for _, f := range app.Files {
		result, err := definition.Analyze(tree.NewText(f.Name, f.Data))
		if err != nil {
			t.Fatal(err)
		}
		if result != nil {
			finding.Locate(result.Findings, f.Name)
			files = append(files, analyzer.File[Extra]{Path: f.Name, Result: *result})
		}
	}
	for _, s := range postAnalyze(files, t.Logf) {
		if s.Evidence.Path == file {
			return s
		}
	}
	t.Fatalf("%s: no server in %s", archive, file)
	return plan.Server{}
}

// A list of options gets one in each of many branches, as those of a large server do, and what decides takes long to
// evaluate: each condition is evaluated once, so that none of the options is out of reach.
func TestOptionsOfManyBranches(t *testing.T) {
	var text strings.Builder
	text.WriteString("package main\nimport \"google.golang.org/grpc\"\nvar limit0 = read()\n")
	for i := range 5 {
		fmt.Fprintf(&text, "var limit%d = limit%d + limit%d\n", i+1, i, i)
	}
	text.WriteString("func main() {\n\tvar options []grpc.ServerOption\n")
	for range 8 {
		text.WriteString("\tif limit5 != \"\" {\n\t\toptions = append(options, grpc.MaxRecvMsgSize(1))\n\t}\n")
		text.WriteString("\tswitch limit5 {\n\tcase \"a\":\n\t\t")
		text.WriteString("options = append(options, grpc.MaxSendMsgSize(1))\n\t}\n")
	}
	text.WriteString("\tgrpc.NewServer(options...)\n}\n")
	result, err := definition.Analyze(tree.NewText("main.go", []byte(text.String())))
	if err != nil {
		t.Fatal(err)
	}
	found := postAnalyze([]analyzer.File[Extra]{{Path: "main.go", Result: *result}}, t.Logf)
	if len(found) != 1 || found[0].Security.Transport != plan.Plaintext {
		t.Errorf("found %+v, want one server without TLS", found)
	}
}
