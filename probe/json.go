package probe

import (
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// object is a JSON object (RFC 8259) under construction. It is written by hand
// because encoding/json would cost each probe a tenth of its size and more than
// that of its start.
type object struct{ text []byte }

// member begins the next member; its value has to follow.
func (o *object) member(name string) {
	sign := byte(',')
	if len(o.text) == 0 {
		sign = '{'
	}
	o.text = append(appendJSON(append(o.text, sign), name), ':')
}

func (o *object) string(name, value string) {
	o.member(name)
	o.text = appendJSON(o.text, value)
}

func (o *object) int(name string, value int) {
	o.member(name)
	o.text = strconv.AppendInt(o.text, int64(value), 10)
}

// milliseconds has three decimals.
func (o *object) milliseconds(name string, d time.Duration) {
	o.member(name)
	o.text = strconv.AppendFloat(o.text, float64(d.Microseconds())/1000, 'f', 3, 64)
}

func (o *object) objects(name string, values [][]byte) {
	o.member(name)
	o.text = append(o.text, '[')
	for i, value := range values {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		o.text = append(o.text, value...)
	}
	o.text = append(o.text, ']')
}

// end returns the object, which has at least one member.
func (o *object) end() []byte { return append(o.text, '}') }

// appendJSON appends text as a JSON string. What does not print is escaped, so
// that text from the network cannot colour or turn around a terminal's line, and
// still nothing is lost of it but bytes that are not UTF-8.
func appendJSON(b []byte, text string) []byte {
	b = append(b, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			b = appendEscape(appendEscape(b, 0xd800+(r-0x10000)>>10), 0xdc00+(r-0x10000)&0x3ff)
		default:
			b = appendEscape(b, r)
		}
	}
	return append(b, '"')
}

// appendEscape appends one unit of UTF-16 (RFC 8259 section 7).
func appendEscape(b []byte, unit rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}
