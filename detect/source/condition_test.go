package source

import (
	"strings"
	"testing"
)

func TestConditionIsWhatCodeRunsUnder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"void f() { b.HERE(); }":                             "",
		"if (tls) { b.HERE(); }":                             "if (tls)",
		"if (tls) b.HERE();":                                 "if (tls) b.",
		"if (debug) { log(); } b.HERE();":                    "",
		"if (debug) log(); b.HERE();":                        "",
		"x = tls ? HERE : b;":                                "x = tls ?",
		"x = a ? b : c; HERE":                                "",
		"if (a) { b(o -> { o.HERE(); }); }":                  "if (a)",
		"if (a) { b(); } else { HERE }":                      "if (a) { b(); } else",
		"x = a?.b ?? HERE":                                   "",
		"s = forPort(p)\n    .a()\n    .HERE()":              "",
		"s = if (tls) HERE else b":                           "s = if (tls)",
		"if (debug) log()\nb.HERE()":                         "",
		"if (tls)\n    b.HERE()":                             "if (tls)\n    b.",
		"when {\n  tls -> HERE\n}":                           "when",
		"serve { it.a { b() }.HERE() }":                      "",
		"if (a) {\n  b()\n}\nval s = new C(x, {\n  HERE\n})": "",
	} {
		read := Grammar{}.Read([]byte(text))
		got := ""
		for _, s := range read.Conditions(strings.Index(text, "HERE"), 0, ";\n") {
			got += read.Slice(s)
		}
		if got != want {
			t.Errorf("%q: condition %q, want %q", text, got, want)
		}
	}
}

func TestConditionsOfOtherCodeAreNone(t *testing.T) {
	t.Parallel()
	text := "if (serve) { b.start(); if (tls) { b.HERE() } }"
	read := Grammar{}.Read([]byte(text))
	got := read.Conditions(strings.Index(text, "HERE"), strings.Index(text, "start"), ";")
	if len(got) != 1 || read.Slice(got[0]) != "if (tls)" {
		t.Errorf("conditions %v", got)
	}
}
