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
		"MIT":          "Permission is hereby granted, free of charge",
		"MPL-2.0":      "Mozilla Public License, version 2.0",
	}
	// Parts of it are under MIT, and others under Apache-2.0.
	seen := map[string]bool{"go.yaml.in/yaml/v3": true}
	const format = `{{with .Module}}{{.Path}} {{.Dir}}{{end}}`
	list := exec.Command("go", "list", "-deps", "-f", format, "../../cmd/grpc_health_probe",
		"../../cmd/grpc_health_probe_full", "../../cmd/grpc_health_bridge", "../../cmd/buildpack")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		name, dir, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		var text []byte
		for _, file := range []string{"LICENSE", "LICENSE.txt", "LICENSE.code", "COPYING"} {
			if text, err = os.ReadFile(filepath.Join(dir, file)); err == nil {
				break
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		licence := licenceOf(name)
		if mark := marks[licence]; mark == "" || !bytes.Contains(text, []byte(mark)) {
			t.Errorf("the licence of %s is said to be %q", name, licence)
		}
	}
	if len(seen) < 30 {
		t.Errorf("only %d modules were looked at", len(seen))
	}
}
