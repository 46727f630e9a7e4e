package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/build/labeltest"
	"github.com/grpc-cnb/health-probe/internal/golden"
)

const repository = "../.."

// runJSON runs the program with -o, and returns what it prints on both outputs.
func runJSON(t *testing.T, output, folder string) (out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "go", "run", ".", "-o", output, folder)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil && stderr.Len() == 0 {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String()
}

// The object is that of the image's label, without the keys that only a build knows: with these it is valid by the
// label's schema.
func TestJSONIsTheLabel(t *testing.T) {
	t.Parallel()
	app := t.TempDir()
	write(t, filepath.Join(app, "main.go"), healthy)
	write(t, filepath.Join(app, "go.mod"), "module example.com/healthy\n")
	out, errs := runJSON(t, "json", app)
	if errs != "" || strings.Count(out, "\n") != 1 {
		t.Fatalf("it prints more than one line: %q, and %q", out, errs)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(out), "", "  "); err != nil {
		t.Fatalf("reading %q: %v", out, err)
	}
	golden.Check(t, "testdata/label.golden", indented.String())

	schema, err := labeltest.ReadSchema(repository)
	if err != nil {
		t.Fatal(err)
	}
	var label labeltest.Object
	if err := json.Unmarshal([]byte(out), &label); err != nil {
		t.Fatal(err)
	}
	example := schema["examples"].([]any)[0].(labeltest.Object)
	for _, key := range []string{"version", "source", "variant", "sha256"} {
		if label[key] != nil {
			t.Errorf("%q is known only to a build", key)
		}
		label[key] = example[key]
	}
	completed, err := json.Marshal(label)
	if err != nil {
		t.Fatal(err)
	}
	if err := labeltest.Check(repository, string(completed)); err != nil {
		t.Error(err)
	}
}

// What is left out, or will fail, is said beside the object.
func TestWarningsBesideJSON(t *testing.T) {
	t.Parallel()
	app := t.TempDir()
	write(t, filepath.Join(app, "main.go"),
		"package main\n\nimport \"google.golang.org/grpc\"\n\nvar _ = grpc.NewServer()\n")
	out, errs := runJSON(t, "json", app)
	const warning = "  Warning: probes of the server"
	if !json.Valid([]byte(out)) || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, warning) {
		t.Errorf("it prints %q, and %q", out, errs)
	}
}

// If there is nothing to describe, standard output is empty, and the error says why.
func TestNoJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ output, folder, want string }{
		{"json", t.TempDir(), "the image would get no probe"},
		{"json", filepath.Join(t.TempDir(), "missing"), "looking for the app"},
		{"yaml", ".", `"yaml" is no output (take text or json)`},
	} {
		if out, errs := runJSON(t, test.output, test.folder); out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("-o %s %s prints %q, and %q, want %q", test.output, test.folder, out, errs, test.want)
		}
	}
}
