package plan

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Place is a position in an app: a path with slashes, relative to the app's folder, and a line, counted from 1. Line 0
// stands for the whole file.
type Place struct {
	Path string
	Line int
}

// String returns path:line, or the path alone for line 0. It quotes a path with characters unsafe for a terminal or a
// TOML file. The zero value gives "".
func (p Place) String() string {
	if p.Line == 0 {
		if strings.Contains(p.Path, ":") {
			return strconv.QuoteToASCII(p.Path) // without quotes the end of the path would read as a line
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

// maxPrintable bounds the name from an app in a log or a build plan, in bytes: the longest path in Linux.
const maxPrintable = 4096

// Printable returns a short text of valid UTF-8 and only printable characters unchanged, and any other text quoted and
// cut, as a Go string: the names in an app can be anything.
func Printable(text string) string {
	plain := len(text) <= maxPrintable && utf8.ValidString(text) && !strings.HasPrefix(text, `"`) &&
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	if plain {
		return text
	}
	return strconv.QuoteToASCII(text[:min(len(text), maxPrintable)])
}
