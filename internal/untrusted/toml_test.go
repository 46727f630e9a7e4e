package untrusted_test

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

func TestDecodeTOMLDecodes(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"dots in a value":      "a.b = '1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.18.19'\n",
		"brackets in a string": "a = '''" + strings.Repeat("[{", 100) + "'''\n",
		"quotes at the end":    `a = """x"""""` + "\n" + `b = '''x'''''` + "\n",
		"escaped quotes":       `a = "\"` + strings.Repeat("[", 100) + `\\"` + "\n",
		"brackets in comments": "# " + strings.Repeat("[", 100) + "\na = 1\n",
		"comment at the end":   "a = 1 # " + strings.Repeat("{", 100),
		"many tables":          strings.Repeat("[[a.b.c]]\nd = [{e = 1.5}, {e = 2.5}]\n", 100),
		"many lists in lists":  strings.Repeat("[[t]]\na.b.c.d = [[1], [{e.f = 2}]]\n", 100),
		"many inline tables":   "a = [" + strings.Repeat("{b = 1.5}, ", 100) + "]\n",
		"a string of lines":    "a = \"\"\"\n" + strings.Repeat("[{", 100) + "\n\"\"\"\n",
		"the deepest tables":   strings.Repeat("a = {", 16) + strings.Repeat("}", 16),
		"the longest names":    "[" + strings.Repeat("x", 1023) + "]\na = 1\n",
		"a long value":         "a = '" + strings.Repeat("x", 10_000) + "'\nb = 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var v map[string]any
			if _, err := untrusted.DecodeTOML([]byte(text), &v); err != nil || len(v) == 0 {
				t.Errorf("got %v, %v", v, err)
			}
		})
	}
}

func TestDecodeTOMLRefusesWhatWouldTakeHours(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("a = {", 17) + strings.Repeat("}", 17)
	for name, c := range map[string]struct{ text, want string }{
		"dots":                     {strings.Repeat("a.", 17) + "a = 1", "line 1 nests deeper than 16 levels"},
		"inline tables":            {"\n" + deep, "line 2 nests deeper than 16 levels"},
		"inline tables over lines": {strings.Repeat("a = {\n", 17), "line 17 nests deeper than 16 levels"},
		"arrays":                   {"a = " + strings.Repeat("[", 17), "line 1 nests deeper than 16 levels"},
		"dots in a table": {
			"[" + strings.Repeat("a.", 9) + "a]\n" + strings.Repeat("a.", 9) + "a = 1",
			"line 2 nests deeper than 16 levels",
		},
		"dots in inline tables": {strings.Repeat("a.b.c = {", 6), "line 1 nests deeper than 16 levels"},
		"after a string":        {`a = """x""""` + "\nb = " + deep, "line 2 nests deeper than 16 levels"},
		"after a comment":       {"# it's\nb = " + deep, "line 2 nests deeper than 16 levels"},
		"a long name": {
			"['" + strings.Repeat("x", 2000) + "']\na = 1",
			"line 2 has names of more than 1024 bytes around a value",
		},
		"names a byte too long": {
			"[" + strings.Repeat("x", 1024) + "]\na = 1",
			"line 2 has names of more than 1024 bytes around a value",
		},
		"long names": {
			"['" + strings.Repeat("x", 600) + "']\na = {'" + strings.Repeat("x", 600) + "' = 1}",
			"line 2 has names of more than 1024 bytes around a value",
		},
		"a long file": {strings.Repeat("#", 256<<10+1), "262145 bytes, more than 262144"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var v map[string]any
			_, err := untrusted.DecodeTOML([]byte(c.text), &v)
			if want := "reading TOML: " + c.want; err == nil || err.Error() != want {
				t.Errorf("the error is %v, want %s", err, want)
			}
		})
	}
}
