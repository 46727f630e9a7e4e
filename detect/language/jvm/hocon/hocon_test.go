package hocon_test

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/language/jvm/hocon"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"dots and braces": {"a.b { c = 1 }\na { b.d : two }", "a.b.c=1@1 a.b.d=two@2"},
		"braces around":   {"{\n \"a\": {\"b-c\": \"x\"}, d = 2 }", "a.b-c=x@2 d=2@2"},
		"comments":        {"# one\na = 1 // two\n// three\nb = 2 # four", "a=1@2 b=2@4"},
		"substitutions":   {"port = 9000\nport = ${?PORT}\nb = ${a.b}", "port=9000@1 port=${?PORT}@2 b=${a.b}@3"},
		"arrays":          {"a = [1, {b = 2},\n \"]\"]\nc = 3\nd += 4", "a=@1 c=3@3 d=4@4"},
		"an equals sign":  {"a = {\n b = 1\n}\nc=d e f\n", "a.b=1@2 c=d e f@4"},
		"several lines":   {"a = \"\"\"one\ntwo\"\"\"\nb = 1", "a=one\ntwo@1 b=1@3"},
		"includes": {
			"include \"other.conf\"\ninclude required(file(\"x\"))\na = 1\nb { include \"c\" }",
			"=other.conf@1 =@2 a=1@3 =@4",
		},
		"objects together":  {"a = ${b} { c = 1 }\nd = 2", "a=${b}@1 d=2@2"},
		"a byte order":      {"\xef\xbb\xbfa = 1", "a=1@1"},
		"a comment before":  {"# one\n{ a = 1 }", "a=1@2"},
		"escaped quotes":    {`a = "b\"c", "d\"e" = f`, `a=b\"c@1 d\"e=f@1`},
		"names of includes": {"included = 1\nincludes { file = 2 }", "included=1@1 includes.file=2@2"},
		"tabs and Windows":  {"a\t{\r\n\tb\t=\t1\r\n}\r\nc\r\n{ d = 2 }\r\n", "a.b=1@2 c.d=2@5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := hocon.Read([]byte(test.text))
			if got := describe(found); err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestReadGivesWhatStandsBeforeAMistake(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a = 1\nb {", "a = 1\nb = \"", "a = 1\n= 2", "a = 1\n}", "a = 1\nb = [", "a = 1\nb = ${x", "a = 1\nb",
		"a = 1\n\"b = 2", "{ a = 1 }\nb = 2", "a = 1\nb = [\"]",
		"a = 1\n" + strings.Repeat("b {", 20) + strings.Repeat("}", 20),
	} {
		found, err := hocon.Read([]byte(text))
		if got := describe(found[:min(1, len(found))]); err == nil || got != "a=1@1" {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}

// What is read has bounds, and an error says which of them a text exceeds.
func TestReadKeepsWithinItsBounds(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		most int // that is read
		says string
		text func(n int) string
	}{
		"bytes of a file": {128 << 10, "131073 bytes, more than 131072", func(n int) string {
			return "a = 1\n" + strings.Repeat("#", n-len("a = 1\n"))
		}},
		"levels": {16, "line 2: more than 16 levels", func(n int) string {
			return "a = 1\n" + strings.Repeat("b {", n) + "c = 1" + strings.Repeat("}", n)
		}},
		"bytes of a key": {400, "line 2: a key of more than 400 bytes, or", func(n int) string {
			return "a = 1\n" + strings.Repeat("b", n) + " = 1"
		}},
		"settings": {20_000, "line 20001: a key of more than 400 bytes, or more than 20000", func(n int) string {
			return strings.Repeat("a=1\n", n)
		}},
	} {
		if _, err := hocon.Read([]byte(of.text(of.most))); err != nil {
			t.Errorf("with %d %s: %v", of.most, name, err)
		}
		if _, err := hocon.Read([]byte(of.text(of.most + 1))); err == nil || !strings.Contains(err.Error(), of.says) {
			t.Errorf("with %d %s: %v, want %s", of.most+1, name, err, of.says)
		}
	}
}

func describe(found []hocon.Setting) string {
	var all []string
	for _, s := range found {
		all = append(all, s.Key+"="+s.Value+"@"+string(rune('0'+s.Line)))
	}
	return strings.Join(all, " ")
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("a.\"b\" { c = ${?D}, e = [1] } // f\ninclude \"g\""))
	f.Fuzz(func(t *testing.T, text []byte) {
		found, _ := hocon.Read(text)
		for _, s := range found {
			if s.Key == "" && !strings.Contains(string(text), "include") || s.Line < 1 {
				t.Errorf("setting %+v", s)
			}
		}
	})
}
