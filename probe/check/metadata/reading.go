package metadata

import (
	"bytes"
	"strconv"
	"strings"
)

// maxEncodings is the greatest number of nested encodings of a text: percent encoding twice, base64 in quotes.
const maxEncodings = 2

// reading is the content of a text taken for an encoding.
type reading struct {
	units []unit
	// isDigits means that the bytes are made of digits, which all texts have.
	isDigits bool
}

// unit is a byte, or the value of a digit, with its begin and end in the received text.
type unit struct {
	value    byte
	from, to int
}

// asWritten is the reading without any encoding.
func asWritten(text string) reading {
	r := reading{units: make([]unit, len(text))}
	for i := range r.units {
		r.units[i] = unit{text[i], i, i + 1}
	}
	return r
}

func (r reading) text() []byte {
	text := make([]byte, len(r.units))
	for i, u := range r.units {
		text[i] = u.value
	}
	return text
}

// decode returns the readings with one encoding more: escapes of URLs, of strings in programs and JSON and of HTML, and
// digits of 6, 5 and 4 bits, for base64, base32 and hex. Text without an escape stays unchanged.
func (r reading) decode() (all []reading) {
	text := r.text()
	for _, escape := range []struct {
		sign  byte
		parse func(string) (string, int)
	}{{'%', percent}, {'\\', backslash}, {'&', entity}} {
		if bytes.IndexByte(text, escape.sign) >= 0 {
			all = append(all, r.unescape(string(text), escape.parse))
		}
	}
	const letters, small = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
	for _, set := range []struct {
		bits, begins int
		alphabets    []string
	}{
		{6, 4, []string{letters + small + "0123456789+/", letters + small + "0123456789-_"}},
		{5, 8, []string{letters + "234567", small + "234567"}},
		{4, 2, []string{"0123456789ABCDEF", "0123456789abcdef"}},
	} {
		// The begin of an encoding is unknown: after set.begins digits a byte begins with a digit again.
		digits := r.digits(text, set.bits, set.alphabets)
		for first := range min(set.begins, len(digits)) {
			all = append(all, undigit(digits[first:], set.bits))
		}
	}
	return all
}

// unescape decodes escapes. parse returns the meaning and the length of an escape at the begin of a text; the length is
// zero without an escape.
func (r reading) unescape(text string, parse func(string) (string, int)) reading {
	out := reading{make([]unit, 0, len(text)), r.isDigits}
	for i := 0; i < len(text); {
		value, size := parse(text[i:])
		if size == 0 {
			value, size = text[i:i+1], 1
		}
		for j := range len(value) {
			out.units = append(out.units, unit{value[j], r.units[i].from, r.units[i+size-1].to})
		}
		i += size
	}
	return out
}

// percent is an escape of URLs (RFC 3986 section 2.1).
func percent(text string) (string, int) {
	if text[0] != '%' || len(text) < 3 {
		return "", 0
	}
	value, err := strconv.ParseUint(text[1:3], 16, 8)
	if err != nil {
		return "", 0
	}
	return string([]byte{byte(value)}), 3
}

// backslash is an escape of Go, C and most other languages, or of JSON. A sign after a backslash stands for itself if
// no language gives the sign another meaning.
func backslash(text string) (string, int) {
	if text[0] != '\\' || len(text) == 1 {
		return "", 0
	}
	value, isRune, rest, err := strconv.UnquoteChar(text, 0)
	switch {
	case err != nil:
		return text[1:2], 2
	case isRune:
		return string(value), len(text) - len(rest)
	}
	return string([]byte{byte(value)}), len(text) - len(rest)
}

// entity is a character reference of HTML: by its number, or one of the five names that every encoder has.
func entity(text string) (string, int) {
	const longest = len("&#x10ffff;")
	name, _, ok := strings.Cut(text[:min(len(text), longest)], ";")
	if !ok || text[0] != '&' {
		return "", 0
	}
	named := map[string]string{"&amp": "&", "&lt": "<", "&gt": ">", "&quot": `"`, "&apos": "'"}
	if value := named[name]; value != "" {
		return value, len(name) + 1
	}
	digits, ok := strings.CutPrefix(fold(name), "&#")
	base := 10
	if hex, is := strings.CutPrefix(digits, "x"); is {
		digits, base = hex, 16
	}
	value, err := strconv.ParseUint(digits, base, 21)
	if !ok || err != nil {
		return "", 0
	}
	return string(rune(value)), len(name) + 1
}

// digits returns the digits in a text, padding being part of the digit before. An alphabet has all digits in order.
// Anything between digits is left out: line breaks, colons, the 0x of C.
func (r reading) digits(text []byte, bits int, alphabets []string) []unit {
	var values [256]byte // of the digits, plus one
	for _, alphabet := range alphabets {
		for value := range len(alphabet) {
			values[alphabet[value]] = byte(value) + 1
		}
	}
	all := make([]unit, 0, len(text))
	for i, c := range text {
		switch {
		case c == '=' && len(all) > 0:
			all[len(all)-1].to = r.units[i].to
		case values[c] == 0, bits == 4 && bytes.HasPrefix(text[i:], []byte("0x")):
		default:
			all = append(all, unit{values[c] - 1, r.units[i].from, r.units[i].to})
		}
	}
	return all
}

// undigit returns the bytes made of digits with the given number of bits (RFC 4648).
func undigit(digits []unit, bits int) reading {
	out := reading{make([]unit, 0, len(digits)), true}
	for bit := 0; (bit+7)/bits < len(digits); bit += 8 {
		first, last := bit/bits, (bit+7)/bits
		number := 0
		for _, digit := range digits[first : last+1] {
			number = number<<bits | int(digit.value)
		}
		value := byte(number >> ((last+1)*bits - bit - 8))
		out.units = append(out.units, unit{value, digits[first].from, digits[last].to})
	}
	return out
}
