package sbom

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is said of a module's licence is what stands in the module.
func TestLicencesAreThoseInTheModules(t *testing.T) {
	marks := map[string]string{
		"Apache-2.0":   "Apache License",
		"BSD-3-Clause": "Redistribution and use in source and binary forms",
	}
	const format = `{{with .Module}}{{.Path}} {{.Dir}}{{end}}`
	list := exec.Command("go", "list", "-deps", "-f", format, "../../cmd/grpc_health_probe",
		"../../cmd/grpc_health_probe_full", "../../cmd/grpc_health_bridge")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		name, dir, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		text, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
		if err != nil {
			t.Fatal(err)
		}
		licence := licenceOf(name)
		if mark := marks[licence]; mark == "" || !bytes.Contains(text, []byte(mark)) {
			t.Errorf("the licence of %s is said to be %q", name, licence)
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %d modules were looked at", len(seen))
	}
}
