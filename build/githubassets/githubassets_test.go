package githubassets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The example that users copy is a project.toml that the buildpack reads.
func TestExampleIsRead(t *testing.T) {
	example, err := os.ReadFile("../../examples/githubassets.toml")
	if err != nil {
		t.Fatal(err)
	}
	app := t.TempDir()
	if err := os.WriteFile(filepath.Join(app, projectFile), example, 0o644); err != nil {
		t.Fatal(err)
	}
	requests, err := readRequests(app)
	if err != nil || len(requests) != 1 || requests[0].Destination != "bin/jq" || len(requests[0].SHA256) != 64 {
		t.Errorf("the buildpack reads %+v, %v", requests, err)
	}
}

// docs/sources.md and docs/migrating.md name each variable.
func TestDocumentsNameEachVariable(t *testing.T) {
	var documents string
	for _, name := range []string{"sources.md", "migrating.md"} {
		text, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil {
			t.Fatal(err)
		}
		documents += string(text)
	}
	for _, variable := range Variables {
		if !strings.Contains(documents, "`"+variable.Name+"`") {
			t.Errorf("no document names %s: %s", variable.Name, variable.Meaning)
		}
		if variable.Meaning == "" || variable.Example == "" {
			t.Errorf("%s has no meaning or no example", variable.Name)
		}
	}
}
