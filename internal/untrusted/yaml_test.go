package untrusted_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// Each setting is given as key=value:line, documents with --- between them.
func TestReadYAMLGivesWhatIsMeant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"nothing":     {"", ""},
		"a scalar":    {"a", ""},
		"block style": {"a: # x\n  b: 1\n  'c d': \"2 # 3\"\n", "a=:1 a.b=1:2 a.c d=2 # 3:3"},
		"flow style":  {"a: {b: [1, {c: 2}]}", "a=:1 a.b=:1 a.b[0]=1:1 a.b[1]=:1 a.b[1].c=2:1"},
		"no value":    {"a:\nb: ~\nc: null\nd: 'null'\n", "a=:1 b=:2 c=:3 d=null:4"},
		"an alias":    {"a: &a\n  b: 1\nc: *a\n", "a=:1 a.b=1:2 c=:3 c.b=1:2"},
		"a merge":     {"a: &a {b: 1, c: 2}\nd:\n  <<: *a\n  c: 3\n", "a=:1 a.b=1:1 a.c=2:1 d=:2 d.c=3:4 d.b=1:1"},
		"two merged": {
			"a: &a {b: 1}\nc: &c {b: 2, d: 3}\ne: {<<: [*a, *c]}\n",
			"a=:1 a.b=1:1 c=:2 c.b=2:2 c.d=3:2 e=:3 e.b=1:1 e.d=3:2",
		},
		"a quoted <<":  {"'<<': {a: 1}", "<<=:1 <<.a=1:1"},
		"documents":    {"a: 1\n---\n# x\nb: 2\n--- c\n...\n---\nd: 3", "a=1:1 --- b=2:4 ---  --- d=3:8"},
		"a mapped key": {"? {a: 1}\n: 2\nb: 3\n", "b=3:3"},
		"windows":      {"\ufeffa:\r\n  b: 1\r\n", "a=:1 a.b=1:2"},
		"places":       {"a: ${B:1}\nb: \"${C:d:e}\"\n", "a=${B:1}:1 b=${C:d:e}:2"},
		"Maven's":      {"a: @b.c@\nd: me@b.c or you@b.c\n", "a=_____:1 d=me@b.c or you@b.c:2"},
		"Helm's": {
			"a:\n  {{- if .B }}\n  b: {{ default \"x: y\" .B | quote }}1\n  {{- end }}\nc: 1\n",
			"a=:1 a.b=" + strings.Repeat("_", 31) + "1:3 c=1:5",
		},
		"Jinja's": {"{% for a in b %}\na: '{{ a }}:1'\n{% endfor %}\n", "a=_______:1:2"},
		"ERB's":   {"<% if x %>\na: <%= y ? \": \" : 1 %>\n<% end %>\n", "a=___________________:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents, err := untrusted.ReadYAML([]byte(c.text))
			var got []string
			for i, document := range documents {
				if i > 0 {
					got = append(got, "---")
				}
				var settings []string
				for _, s := range document {
					settings = append(settings, fmt.Sprintf("%s=%s:%d", s.Key, s.Value, s.Line))
				}
				got = append(got, strings.Join(settings, " "))
			}
			if said := strings.Join(got, " "); said != c.want || err != nil {
				t.Errorf("got  %s, %v\nwant %s", said, err, c.want)
			}
		})
	}
}

func TestReadYAMLGivesTheDocumentsBeforeAnError(t *testing.T) {
	t.Parallel()
	documents, err := untrusted.ReadYAML([]byte("a: 1\n---\nb: c: d\n"))
	if len(documents) != 1 || err == nil ||
		err.Error() != "reading YAML: yaml: line 3: mapping values are not allowed in this context" {
		t.Errorf("got %v, %v", documents, err)
	}
}

// What is read has bounds, and an error says which of them a text exceeds.
func TestReadYAMLKeepsWithinItsBounds(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		most int // that is read
		says string
		text func(n int) string
	}{
		"bytes":    {128 << 10, "131073 bytes, more than 131072", func(n int) string { return strings.Repeat("#", n) }},
		"settings": {20_000, "more than 20000 settings", func(n int) string { return strings.Repeat("- a\n", n) }},
	} {
		if _, err := untrusted.ReadYAML([]byte(of.text(of.most))); err != nil {
			t.Errorf("with %d %s: %v", of.most, name, err)
		}
		if _, err := untrusted.ReadYAML([]byte(of.text(of.most + 1))); err == nil ||
			err.Error() != "reading YAML: "+of.says {
			t.Errorf("with %d %s: %v, want %s", of.most+1, name, err, of.says)
		}
	}
}

// Each is made to take hours, or more memory than there is.
func TestReadYAMLEndsWhateverTheTextIs(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"long":               strings.Repeat("a: b\n", 1<<20),
		"aliases of aliases": bomb("a%d: &a%d [%s]\n", "*a%d,"),
		"merges of merges":   bomb("a%d: &a%d {<<: [%s]}\n", "*a%d,"),
		"wide merges": "a: &a {" + strings.Repeat("b,", 1000) + "}\n" + strings.Repeat("c: {<<: *a}\n",
			9000),
		"a list merged again": "a: &a [" + strings.Repeat("b,", 30_000) + "]\nc: {" + strings.Repeat("<<: *a,",
			9000) + "}\n",
		"an alias of itself":       "a: &a [*a, *a]\n",
		"a merge of itself":        "a: &a\n  <<: [*a, *a]\n",
		"deep lists":               strings.Repeat("[", 100_000),
		"deep lists, closed":       strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"deep mappings":            strings.Repeat("{a: ", 30_000),
		"deep blocks":              strings.Repeat("- ", 60_000),
		"deep keys":                strings.Repeat("? ", 60_000),
		"long keys":                strings.Repeat("a", 60_000) + ": {" + strings.Repeat("b,", 30_000) + "}",
		"pairs":                    "{" + strings.Repeat("a,", 60_000) + "}",
		"open mappings":            strings.Repeat("{a,", 40_000),
		"documents":                strings.Repeat("---\n", 30_000),
		"comments":                 strings.Repeat("#\n", 60_000),
		"comments that move in":    strings.Repeat("a:\n #\n", 18_000),
		"anchors":                  strings.Repeat("&a ", 40_000),
		"tags":                     strings.Repeat("!a ", 40_000),
		"quotes":                   strings.Repeat("'a' ", 30_000),
		"lines of a scalar":        "a: |\n" + strings.Repeat(" \n", 60_000),
		"lines of a plain":         "a: b\n" + strings.Repeat(" b\n", 40_000),
		"simple keys":              "[" + strings.Repeat("a ", 60_000),
		"directives":               strings.Repeat("%TAG ! a\n", 12_000),
		"templates":                strings.Repeat("{{", 60_000),
		"templates in an open one": strings.Repeat("{{@a@", 25_000),
		"templates of one name":    strings.Repeat("@a", 60_000),
		"templates on each line":   strings.Repeat("{{\n", 40_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents, err := untrusted.ReadYAML([]byte(text))
			settings, bytes := 0, 0
			for _, document := range documents {
				settings += len(document)
				for _, s := range document {
					bytes += len(s.Key)
				}
			}
			if settings > 20_000 || bytes > 32<<20 {
				t.Errorf("it came to %d settings with %d bytes of keys, %v", settings, bytes, err)
			}
		})
	}
}

// bomb returns lines in each of which the one before stands nine times.
func bomb(line, of string) string {
	text := "a0: &a0 {b: c}\n"
	for i := 1; i < 12; i++ {
		text += fmt.Sprintf(line, i, i, strings.Repeat(fmt.Sprintf(of, i-1), 9))
	}
	return text
}

func FuzzReadYAML(f *testing.F) {
	for _, text := range []string{
		"a: &a {b: [1, ~]}\nc: {<<: *a, d: 'e'}\n--- # x\n- |\n  f\n",
		"%YAML 1.1\n---\n? a\n: b\n...\n",
		"a: @b@\n{{- if c }}\nd: <%= e %>\n{% f %}\n",
		"a:\n  - b\n  # c\n\n# d\ne: !f \"g\\u0041\"\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		documents, _ := untrusted.ReadYAML(text)
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + 1
		for _, document := range documents {
			for _, s := range document {
				if s.Line < 1 || s.Line > lines {
					t.Errorf("setting %+v in a file of %d lines", s, lines)
				}
			}
		}
	})
}
