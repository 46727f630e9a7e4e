package buildfile_test

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	properties := map[string]string{
		"grpcVersion": "1.0.2", "grpc.version": "${base}", "base": "0.9.0", "again": "${again}",
	}
	for version, want := range map[string]string{
		"1.0.0":                               "1.0.0",
		"${grpcVersion}":                      "1.0.2",
		"$grpcVersion":                        "1.0.2",
		"${grpc.version}":                     "0.9.0",
		`${property("grpcVersion")}`:          "1.0.2",
		"${rootProject.ext.grpcVersion}":      "1.0.2",
		`${rootProject.extra["grpcVersion"]}`: "1.0.2",
		"${other}":                            "",
		"${again}":                            "",
	} {
		if got := buildfile.Resolve(version, func(name string) string { return properties[name] }); got != want {
			t.Errorf("%s: got %q, want %q", version, got, want)
		}
	}
}

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
