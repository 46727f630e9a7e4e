package sbom

import (
	"debug/buildinfo"
	"runtime/debug"
	"slices"
	"testing"
)

// Every package URL has a name that is known outside the program: Go's own programs belong to no module, and a module
// may be replaced by a folder.
func TestPackageURLsOfUnusualPrograms(t *testing.T) {
	t.Parallel()
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8-X:fieldtrack", Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "../a", Version: "(devel)"}},
		{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0"}},
	}}
	want := []string{"pkg:golang/stdlib@1.26.8", "pkg:golang/example.com/a", "pkg:golang/example.com/c@v2.0.0"}
	program := GoProgram(info, "")
	if program.PURL != "" {
		t.Errorf("a program of no module has the package URL %q", program.PURL)
	}
	var got []string
	for _, part := range program.Parts {
		got = append(got, part.PURL)
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed: %q, want %q", got, want)
	}
}
