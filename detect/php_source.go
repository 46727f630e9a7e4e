package detect

import (
	"bytes"
	"regexp"
	"strings"
)

// phpGrammar is PHP's (php.net, Language Reference). What stands outside of <?php ... ?> is blanked as a comment is.
var phpGrammar = grammar{
	between("?>", "<?", false),
	toLineEnd("//"),
	{open: "#", comment: true, starts: phpNoAttribute, end: toLineEnd("#").end},
	between("/*", "*/", false),
	quoted(`'`, `'`, quoting{multiline: true}),
	quoted(`"`, `"`, quoting{multiline: true}),
	{open: "<<<", starts: phpHeredocStarts, end: phpHeredocEnd},
}

// phpNoAttribute reports whether a # is no #[Attribute].
func phpNoAttribute(text []byte, at int) bool { return at+1 == len(text) || text[at+1] != '[' }

// phpHeredoc is what follows the <<< of a heredoc or nowdoc.
var phpHeredoc = regexp.MustCompile(`^[ \t]*["']?([A-Za-z_]\w*)["']?\r?\n`)

func phpHeredocStarts(text []byte, at int) bool {
	return phpHeredoc.Match(text[at+3 : min(at+200, len(text))])
}

// phpHeredocEnd finds the line that begins with the heredoc's name.
func phpHeredocEnd(text []byte, from int) (inner, after int) {
	m := phpHeredoc.FindSubmatchIndex(text[from:min(from+200, len(text))])
	if m == nil {
		return from, from
	}
	name := text[from+m[2] : from+m[3]]
	for at := from + m[1]; at < len(text); {
		line, _, _ := bytes.Cut(text[at:], []byte("\n"))
		if rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), name); ok && (len(rest) == 0 || !nodeInWord(rest[0])) {
			return at, at + len(line) - len(rest)
		}
		at += len(line) + 1
	}
	return len(text), len(text)
}

// phpRead tells code, comments and strings apart. What comes before the first <? is text.
func phpRead(text []byte) *source {
	begin := bytes.Index(text, []byte("<?"))
	if begin < 0 {
		begin = len(text)
	}
	code := bytes.Clone(text)
	blank(code[:begin])
	s := phpGrammar.read(code)
	s.text = text
	return s
}

// phpNames are what short names stand for, as the file's use statements say.
type phpNames map[string]string

// phpUse is `use A\B;`, `use A\B as C;` and `use A\{B, C as D};`.
var phpUse = regexp.MustCompile(`(?m)^\s*use\s+(?P<name>\\?[\w\\]+)\s*(?:\{(?P<group>[^{}]*)\}|(?:as\s+(?P<alias>\w+))?)\s*;`)

func (s *source) phpNames() phpNames {
	names := phpNames{}
	for _, m := range phpUse.FindAllSubmatchIndex(s.code, -1) {
		name, _ := s.group(phpUse, m, "name")
		alias, _ := s.group(phpUse, m, "alias")
		group, grouped := s.group(phpUse, m, "group")
		if !grouped {
			names.add(name, alias)
			continue
		}
		for part := range strings.SplitSeq(group, ",") {
			if fields := strings.Fields(part); len(fields) == 1 || len(fields) == 3 {
				names.add(name+fields[0], strings.Join(fields[min(2, len(fields)):], ""))
			}
		}
	}
	return names
}

func (n phpNames) add(name, alias string) {
	name = strings.TrimPrefix(name, `\`)
	if alias == "" {
		alias = name[strings.LastIndex(name, `\`)+1:]
	}
	n[alias] = name
}

// resolve returns the full name of a class. A namespace of the file's own is not put before a name: no class of the app's
// own decides.
func (n phpNames) resolve(name string) string {
	if full, ok := strings.CutPrefix(name, `\`); ok {
		return full
	}
	first, rest, more := strings.Cut(name, `\`)
	known, ok := n[first]
	if !ok {
		return name
	}
	if more {
		return known + `\` + rest
	}
	return known
}
