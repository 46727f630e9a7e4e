package github

import (
	"strings"
	"testing"
)

func TestTokenHasNoCharactersThatNoneHas(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"ghp_aZ09": true, "!~": true, "": true, "a b": false, "a\nb": false, "a\x7f": false, "ä": false, "a\t": false,
	} {
		err := Token{From: "$A", Value: value}.check()
		if (err == nil) != want {
			t.Errorf("%q: %v", value, err)
		}
		if err != nil && (strings.Contains(err.Error(), value) || !strings.Contains(err.Error(), "from $A")) {
			t.Errorf("%q: the error %q repeats the token, or does not say where it is from", value, err)
		}
	}
}
