package plan

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Place is a position in an app: a path with slashes, relative to the app's folder, and a line that counts from 1. Line
// 0 stands for the whole file.
type Place struct {
	Path string
	Line int
}

// String returns path:line, or the path alone for line 0. It quotes a path that holds anything that a terminal or a
// TOML file should not be given raw. The zero value gives "".
func (p Place) String() string {
	if p.Line == 0 {
		if strings.Contains(p.Path, ":") {
			return strconv.QuoteToASCII(p.Path) // without quotes its end would read as a line
		}
		return Printable(p.Path)
	}
	return Printable(p.Path) + ":" + strconv.Itoa(p.Line)
}

// parsePlace is the inverse of Place.String.
func parsePlace(text string) Place {
	path, line := text, 0
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, '"') {
		if n, err := strconv.Atoi(text[i+1:]); err == nil && n > 0 {
			path, line = text[:i], n
		}
	}
	if strings.HasPrefix(path, `"`) {
		if raw, err := strconv.Unquote(path); err == nil {
			path = raw
		}
	}
	return Place{path, line}
}

// maxPrintable is how many bytes of a name from an app go into a log or a build plan: the longest path that Linux
// takes.
const maxPrintable = 4096

// Printable returns text unchanged if it is short, valid UTF-8 and made of printable characters only. Any other text
// comes back quoted as Go quotes strings: the names in an app can be anything.
func Printable(text string) string {
	plain := len(text) <= maxPrintable && utf8.ValidString(text) && !strings.HasPrefix(text, `"`) &&
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	if plain {
		return text
	}
	return strconv.QuoteToASCII(text[:min(len(text), maxPrintable)])
}
