package address

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/source"
)

func TestOfTwoPartsOnlyOneRuns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"if (tls) {\n  A\n} else {\n  B\n}":                             "tls",
		"if (tls) A; else B;":                                           "",
		"if (tls) {\n  return x\n    .A\n}\nreturn B":                   "tls",
		"if (tls) {\n  x.A;\n  return;\n}\nB":                           "tls",
		"if (tls)\n  return A;\nB":                                      "tls",
		"if (tls)\n{\n  A;\n  return;\n}\nB":                            "tls",
		"if (tls)\n{\n  A;\n}\nB;\nreturn":                              "",
		"if (tls) {\n  A\n}\nB":                                         "",
		"if (tls) {\n  A\n}\nif (other) {\n  B\n}":                      "",
		"if (tls) {\n  A\n} else if (plain) {\n  B\n}":                  "tls",
		"void a() {\n  if (tls) {\n    return A\n  }\n}\nb() {\n  B\n}": "",
		"A\nB":                            "",
		"x = tls ? y.A() : z.B();":        "tls",
		"x = tls\n  ? y.A(1)\n  : z.B(2)": "tls",
		"x = tls ? y.A().B() : z":         "",
	} {
		d := Read(source.Grammar{}.Read([]byte(text)), "\n")
		a, b := strings.Index(text, "A"), strings.Index(text, "B")
		var got []string
		for _, s := range d.Excluding(b, a) {
			got = append(got, d.Slice(s))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
