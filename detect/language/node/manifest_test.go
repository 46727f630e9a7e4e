package node

import (
	"slices"
	"strings"
	"testing"
)

func TestManifestsThatBeginAProject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"name": "a"}`: true, `{"dependencies": {}}`: true, `{"scripts": {}}`: true, `{"name": 1}`: true,
		"\ufeff" + `{"name": "a"}`: true, `{"type": "module"}`: false, `{}`: false,
	} {
		for _, isOutput := range []bool{false, true} {
			result, err := analyzeManifest([]byte(text), isOutput)
			if got := result != nil && result.ProjectRoot; err != nil || got != (want && !isOutput) {
				t.Errorf("%s among output %t: begins a project: %t, error %v", text, isOutput, got, err)
			}
		}
	}
	if result, err := analyzeManifest([]byte("{"), false); err == nil || !result.ProjectRoot {
		t.Errorf("a manifest that is broken: %+v, error %v", result, err)
	}
}

func TestProgramsOfAManifest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"main": "server.js"`:                               "server.js",
		`"bin": "./cli.js"`:                                 "./cli.js",
		`"bin": {"a": "a.js"}`:                              "a.js",
		`"main": 1`:                                         "",
		`"scripts": {"start": "node server.js"}`:            "server.js",
		`"scripts": {"start:prod": "node b.js"}`:            "b.js",
		`"scripts": {"serve": "node c.js"}`:                 "c.js",
		`"scripts": {"test": "node d.js"}`:                  "",
		`"scripts": {"start": "nest start orders"}`:         "main apps/orders/main",
		`"main": "a.js", "scripts": {"start": "node b.js"}`: "a.js b.js",
	} {
		result, err := analyzeManifest([]byte(`{"name": "a", `+text+"}"), false)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := strings.Join(slices.Clone(result.Extra.manifest.programs), " "); got != want {
			t.Errorf("%s names the programs %q, want %q", text, got, want)
		}
	}
}
