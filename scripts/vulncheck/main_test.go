package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/scripts/openvex"
)

// vulnerability is an entry of a small database: symbols of a package of a module, which all versions have.
type vulnerability struct{ id, module, pkg, symbol string }

var (
	// The probes are clients, and use neither of these. Package authz is not even linked.
	unusedPackage = vulnerability{"GO-2026-0001", "google.golang.org/grpc", "google.golang.org/grpc/authz", "NewStatic"}
	unusedSymbol  = vulnerability{"GO-2026-0002", "google.golang.org/grpc", "google.golang.org/grpc", "NewServer"}
	unusedServer  = vulnerability{"GO-2026-0003", "stdlib", "crypto/tls", "LoadX509KeyPair"}
	used          = vulnerability{"GO-2026-0004", "google.golang.org/grpc", "google.golang.org/grpc", "NewClient"}
	elsewhere     = vulnerability{"GO-2026-0005", "example.com/other", "example.com/other", "Function"}
)

// database writes a database as Go's is (https://go.dev/doc/security/vuln/database) and returns its address.
func database(t *testing.T, vulnerabilities ...vulnerability) string {
	t.Helper()
	folder := t.TempDir()
	write := func(name string, content any) {
		text, err := json.Marshal(content)
		file := filepath.Join(folder, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	type object = map[string]any
	const when = "2026-01-02T03:04:05Z"
	write("index/db.json", object{"modified": when})
	modules := map[string][]object{}
	for _, v := range vulnerabilities {
		modules[v.module] = append(modules[v.module], object{"id": v.id, "modified": when})
		write("ID/"+v.id+".json", object{
			"schema_version": "1.3.1", "id": v.id, "modified": when, "published": when,
			"summary":           "A vulnerability of the tests",
			"database_specific": object{"url": "https://pkg.go.dev/vuln/" + v.id},
			"aliases":           []string{"CVE-" + strings.TrimPrefix(v.id, "GO-")},
			"affected": []object{{
				"package": object{"name": v.module, "ecosystem": "Go"},
				"ranges":  []object{{"type": "SEMVER", "events": []object{{"introduced": "0"}}}},
				"ecosystem_specific": object{
					"imports": []object{{"path": v.pkg, "symbols": []string{v.symbol}}},
				},
			}},
		})
	}
	index := []object{}
	for path, entries := range modules {
		index = append(index, object{"path": path, "vulns": entries})
	}
	write("index/modules.json", index)
	return "file://" + folder
}

// compile returns govulncheck, of the version that the script names, and probes.
func compile(t *testing.T) (govulncheck string, programs []string) {
	t.Helper()
	script, err := os.ReadFile("../vulncheck.sh")
	if err != nil {
		t.Fatal(err)
	}
	tool := regexp.MustCompile(`golang\.org/x/vuln/cmd/govulncheck@v[0-9.]+`).FindString(string(script))
	folder := t.TempDir()
	execute(t, []string{"GOBIN=" + folder, "GOFLAGS=-trimpath"}, "go", "install", tool)
	for _, name := range []string{"grpc_health_probe", "grpc_health_probe_full"} {
		program := filepath.Join(folder, name) // as scripts/vulncheck.sh compiles it
		execute(t, []string{"SYMBOLS=true"}, "../compile.sh", "amd64", program, "./cmd/"+name)
		programs = append(programs, program)
	}
	return filepath.Join(folder, "govulncheck"), programs
}

func execute(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Env = append(os.Environ(), env...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, output)
	}
}

// What the programs can execute is told apart from what they only link.
func TestVulnerabilities(t *testing.T) {
	govulncheck, programs := compile(t)
	out := filepath.Join(t.TempDir(), "openvex.json")
	look := func(vulnerabilities ...vulnerability) error {
		return run(t.Context(), scanner{govulncheck, database(t, vulnerabilities...)}, out, programs)
	}

	if err := look(unusedPackage, unusedSymbol, unusedServer, elsewhere); err != nil {
		t.Fatal(err)
	}
	document, err := openvex.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range document.Statements {
		got = append(got, s.Vulnerability.Name+" "+s.Status+" "+s.Justification)
	}
	if want := []string{
		"GO-2026-0001 not_affected vulnerable_code_not_present",
		"GO-2026-0002 not_affected vulnerable_code_not_in_execute_path",
		"GO-2026-0003 not_affected vulnerable_code_not_in_execute_path",
	}; !slices.Equal(got, want) {
		t.Errorf("the statements are %q, want %q", got, want)
	}
	wantProducts(t, document, programs[1])

	err = look(unusedPackage, used)
	if err == nil || !strings.Contains(err.Error(), "can execute code with GO-2026-0004:") {
		t.Errorf("with a function that is used, the error is %v", err)
	}
	if document, err = openvex.Read(out); err != nil || len(document.Affected()) != 1 {
		t.Errorf("the document should say that the programs are affected: %v, %v", document, err)
	}

	if err := look(elsewhere); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the document of an earlier run is still there: %v", err)
	}
}

// wantProducts makes sure that the products and subcomponents are those that the program names.
func wantProducts(t *testing.T, document *openvex.Document, program string) {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	components := map[string][]string{"stdlib": {
		"pkg:golang/stdlib@v" + strings.TrimPrefix(info.GoVersion, "go"),
		"pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go"),
	}}
	for _, module := range info.Deps {
		components[module.Path] = []string{"pkg:golang/" + module.Path + "@" + module.Version}
	}
	document.AddProduct(openvex.ImageOf("ghcr.io/grpc-cnb/grpc-health-probe", "sha256:abc"))
	for i, v := range []vulnerability{unusedPackage, unusedSymbol, unusedServer} {
		var want []string
		for _, product := range []string{openvex.ProgramOf(info), "pkg:oci/grpc-health-probe@sha256%3Aabc"} {
			want = append(want, fmt.Sprint(product, " ", components[v.module]))
		}
		var got []string
		for _, product := range document.Statements[i].Products {
			var subcomponents []string
			for _, component := range product.Subcomponents {
				subcomponents = append(subcomponents, component.ID)
			}
			got = append(got, fmt.Sprint(product.ID, " ", subcomponents))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the products of %s are %q, want %q", v.id, got, want)
		}
	}
}
