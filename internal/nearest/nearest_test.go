package nearest

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"repo", "asset", "tag", "sha256", "token_env", "destination", "strip_components"}
	for name, want := range map[string]string{
		"sha265": "sha256", "Sha256": "sha256", "token": "token_env",
		"repository":      "repo",
		"stripcomponents": "strip_components", "": "tag",
	} {
		if got := Name(name, known); got != want {
			t.Errorf("%q is nearest to %q, not to %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ab", "ba", 2}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("the distance of %q and %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
