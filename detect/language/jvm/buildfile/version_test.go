package buildfile_test

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
)

func TestIsOlder(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]struct{ isOlder, isKnown bool }{
		"1.0.0":          {false, true},
		"1.0.0-RC1":      {false, true},
		"0.12.0":         {true, true},
		"v2":             {false, true},
		"1":              {false, true},
		"3.1.0.RELEASE":  {false, true},
		"latest.release": {false, false},
		"":               {false, false},
	} {
		isOlder, isKnown := buildfile.IsOlder(version, 1, 0)
		if isKnown != want.isKnown || isKnown && isOlder != want.isOlder {
			t.Errorf("%q: got %t, %t", version, isOlder, isKnown)
		}
	}
}
