package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Whoever tries the program from a clone waits for its packages to be compiled. It connects to nothing and starts
// nothing, so it needs neither a network nor TLS, which are a third of the standard library, nor what the go command is
// made of.
func TestLinksNothingInVain(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", ".")
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("listing dependencies: %v", err)
	}
	for dep := range strings.Lines(string(out)) {
		switch dep = strings.TrimSpace(dep); {
		case dep == "net/netip", dep == "net/url": // which parse texts
		case dep == "net", strings.HasPrefix(dep, "net/"), strings.HasPrefix(dep, "crypto/"), dep == "os/exec",
			dep == "go/build", strings.HasPrefix(dep, "go/doc"), dep == "go/types":
			t.Errorf("links %s", dep)
		}
	}
}
