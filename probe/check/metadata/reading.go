package metadata

import (
	"bytes"
	"strconv"
	"strings"
)

// maxEncodings is how many encodings a text is read with, one inside another: percent encoding twice, base64 in quotes.
const maxEncodings = 2

// reading is what a text says if it is taken for an encoding of something else.
type reading struct {
	text []byte
	// from and to are, for each byte of text, where what stands for it begins and ends in the text that was received.
	from, to []int
	// isDigits tells that bytes are made of digits, as all texts have them.
	isDigits bool
}

// asWritten is the reading without any encoding.
func asWritten(text string) reading {
	r := newReading(len(text))
	r.text = append(r.text, text...)
	for i := range r.text {
		r.from, r.to = append(r.from, i), append(r.to, i+1)
	}
	return r
}

// newReading returns an empty reading with place for so many bytes.
func newReading(size int) reading {
	return reading{text: make([]byte, 0, size), from: make([]int, 0, size), to: make([]int, 0, size)}
}

// decode returns what a reading says with one encoding more: escapes as in URLs, in strings of programs and of JSON and
// in HTML, and digits of 6, 5 and 4 bits, which are base64, base32 and hex. What is not encoded is read as it stands.
func (r reading) decode() (all []reading) {
	for _, escape := range []struct {
		sign  byte
		parse func(string) (string, int)
	}{{'%', percent}, {'\\', backslash}, {'&', entity}} {
		if bytes.IndexByte(r.text, escape.sign) >= 0 {
			all = append(all, r.unescape(escape.parse))
		}
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	small := strings.ToLower(letters)
	for _, set := range []digitSet{
		{6, []string{letters + small + "0123456789+/", letters + small + "0123456789-_"}},
		{5, []string{letters + "234567", small + "234567"}},
		{4, []string{"0123456789ABCDEF", "0123456789abcdef"}},
	} {
		all = append(all, r.undigit(set)...)
	}
	return all
}

// unescape decodes escapes. parse returns what the escape that a text begins with means, and its length; zero if the
// text begins with none.
func (r reading) unescape(parse func(string) (string, int)) reading {
	text, out := string(r.text), newReading(len(r.text))
	out.isDigits = r.isDigits
	for i := 0; i < len(text); {
		value, size := parse(text[i:])
		if size == 0 {
			value, size = text[i:i+1], 1
		}
		for range len(value) {
			out.from, out.to = append(out.from, r.from[i]), append(out.to, r.to[i+size-1])
		}
		out.text = append(out.text, value...)
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

// backslash is an escape of Go, C and most other languages, or of JSON. A sign behind a backslash stands for itself if
// no language gives it another meaning.
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
	size := len(name) + 1
	switch name {
	case "&amp":
		return "&", size
	case "&lt":
		return "<", size
	case "&gt":
		return ">", size
	case "&quot":
		return `"`, size
	case "&apos":
		return "'", size
	}
	digits, ok := strings.CutPrefix(name, "&#")
	base := 10
	if hex, is := strings.CutPrefix(fold(digits), "x"); is {
		digits, base = hex, 16
	}
	value, err := strconv.ParseUint(digits, base, 21)
	if !ok || err != nil {
		return "", 0
	}
	return string(rune(value)), size
}

// digitSet is a way to write bytes as digits of some bits each (RFC 4648).
type digitSet struct {
	bits int
	// alphabets have all digits in their order, each way to write them in one of its own.
	alphabets []string
}

// digit is a digit in a text: its value, and where it begins and ends, with the padding after it, in the text that was
// received.
type digit struct{ value, from, to int }

// undigit decodes digits. Where an encoding begins is not known, so there is a reading for each number of digits after
// which a byte may begin.
func (r reading) undigit(set digitSet) (all []reading) {
	digits := r.digits(set)
	for skip := range min(8/gcd(8, set.bits), len(digits)) {
		all = append(all, undigit(digits[skip:], set.bits))
	}
	return all
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// digits returns the digits in a text. Whatever else is between them is left out: line breaks, colons, the 0x of C.
func (r reading) digits(set digitSet) (all []digit) {
	var values [256]int // of the digits, plus one
	for _, alphabet := range set.alphabets {
		for value := range len(alphabet) {
			values[alphabet[value]] = value + 1
		}
	}
	all = make([]digit, 0, len(r.text))
	for i, c := range r.text {
		switch {
		case c == '=' && len(all) > 0:
			all[len(all)-1].to = r.to[i]
		case values[c] == 0, bytes.HasPrefix(r.text[i:], []byte("0x")) && set.bits == 4:
		default:
			all = append(all, digit{values[c] - 1, r.from[i], r.to[i]})
		}
	}
	return all
}

// undigit returns the bytes that digits of so many bits make.
func undigit(digits []digit, bits int) reading {
	out := newReading(len(digits) * bits / 8)
	out.isDigits = true
	for bit := 0; (bit+7)/bits < len(digits); bit += 8 {
		first, last := bit/bits, (bit+7)/bits
		number := 0
		for _, d := range digits[first : last+1] {
			number = number<<bits | d.value
		}
		out.text = append(out.text, byte(number>>((last+1)*bits-bit-8)))
		out.from, out.to = append(out.from, digits[first].from), append(out.to, digits[last].to)
	}
	return out
}
