package source

import (
	"strings"
	"testing"
)

func TestLogicalLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a(\n  b,\n  c\n)\nd":                 "a(   b,   c )|d",
		"if a(\r\n  b\r\n):\r\n  c":           "if a(    b  ): |  c",
		"a\n  .b()\n\n  // c\n  ?.d\n  ..e()": "a   .b()           ?.d   ..e()",
		"a->b()\n  ->c()":                     "a->b()   ->c()",
		"a = b \\\n  c\n\nd":                  "a = b     c||d",
		"a([\n  b,\n  c\n])":                  "a([|  b,|  c|])",
		"f(a, {\n  b: c\n})":                  "f(a, {|  b: c|})",
		"a(b => {\n  c\n},\n d)":              "a(b => {|  c|},  d)",
		"a(fn ->\n  b\n  c\nend)":             "a(fn ->|  b|  c|end)",
		"a(lambda do |b|\n  c\n  d\nend, 5)":  "a(lambda do |b||  c|  d|end, 5)",
		"a(Sub(b)\n  c\n  End Sub)":           "a(Sub(b)|  c|  End Sub)",
		"a(do\n  b\n  c)":                     "a(do|  b|  c)",
		"if (a ||\n    b)":                    "if (a ||     b)",
		"a(\n{\n  b(\n  c\n}\nd(\n  e)":       "a(|{|  b(|  c|}|d(   e)",
		"a(]\nb)":                             "a(] b)",
		"a,\n.b":                              "a,|.b",
		"case\n  .a:\n":                       "case   .a:|",
		"a(\n  b":                             "a(|  b",
		"1\n.. 2":                             "1|.. 2",
		"f()?\n  .b()":                        "f()?   .b()",
		"f();\n.b":                            "f();|.b",
		"a ?\n.b":                             "a ?|.b",
		"a(b\\\n)":                            "a(b  )",
		"let a = (\n  \"(\\n\",\n  b)\nlet c": "let a = (   \"   \",   b)|let c",
	} {
		grammar := Grammar{LineComment("//"), String(`"`, `"`, Quoting{})}
		read := grammar.Read([]byte(text))
		if got := strings.ReplaceAll(string(read.Code), "\n", "|"); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if strings.Contains(string(read.Raw), "//") {
			t.Errorf("%q: there is a comment in Raw", text)
		}
		if len(read.Code) != len(text) || read.Line(len(text)) != 1+strings.Count(text, "\n") {
			t.Errorf("%q: offsets or lines are not those of the text", text)
		}
	}
}

// A string ends after the code in it, whatever brackets and quotes the code has.
func TestCodeInStrings(t *testing.T) {
	t.Parallel()
	grammar := Grammar{LineComment("//"), String(`"`, `"`, Quoting{Embeds: "${"})}
	for _, literal := range []string{`"${a}"`, `"${f({a: 1})}"`, `"${f("}")}//"`, `"${'"' + "\"" }"`} {
		want := `"` + strings.Repeat(" ", len(literal)-2) + `" a`
		if got := string(grammar.Read([]byte(literal + " a // b")).Code); strings.TrimSpace(got) != want {
			t.Errorf("%s is %q, want %q", literal, got, want)
		}
	}
}
