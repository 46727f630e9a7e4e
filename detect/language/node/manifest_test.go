package node

import "testing"

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
