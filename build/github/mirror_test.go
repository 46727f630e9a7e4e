package github

import "testing"

func TestMirrorsWithAndWithoutParts(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][2]string{
		"https://m.example/a":                           {"https://m.example/a", ""},
		"https://m.example/a,skip-path=/b":              {"https://m.example/a", "/b"},
		"mirror=https://m.example/a,skip-path=%2Fb%2Cc": {"https://m.example/a", "/b,c"},
		"file:///m":              {"file:///m", ""},
		"file:///m,skip-path=/b": {"file:///m", "/b"},
		"skip-path=/b,file:///m": {"file:///m", "/b"},
	} {
		if address, skip := splitMirror(value); address != want[0] || skip != want[1] {
			t.Errorf("%s is the mirror %q without %q, want %q without %q", value, address, skip, want[0], want[1])
		}
	}
}
