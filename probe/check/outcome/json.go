package outcome

import (
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// object is an unfinished JSON object (RFC 8259). Package encoding/json would make the probe a tenth larger and its
// start slower by more than a tenth.
type object struct{ text []byte }

// member writes the name of the next member. The caller has to write the value next.
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

// milliseconds writes a duration in milliseconds, with three decimals.
func (o *object) milliseconds(name string, d time.Duration) {
	o.member(name)
	o.text = strconv.AppendFloat(o.text, float64(d.Microseconds())/1000, 'f', 3, 64)
}

// list writes values that are JSON already.
func (o *object) list(name string, values [][]byte) {
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

// raw writes a value that is JSON already.
func (o *object) raw(name string, value []byte) {
	o.member(name)
	o.text = append(o.text, value...)
}

func (o *object) texts(name string, values []string) {
	texts := make([][]byte, len(values))
	for i, value := range values {
		texts[i] = appendJSON(nil, value)
	}
	o.list(name, texts)
}

// end returns the object, which must have a member.
func (o *object) end() []byte { return append(o.text, '}') }

// appendJSON appends text as a JSON string. Unprintable characters are escaped, so text from the network cannot change
// the colour or the direction of a line on a terminal. Only bytes that are not UTF-8 are lost.
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

// appendEscape appends the escape of a 16-bit code of UTF-16 (RFC 8259 section 7).
func appendEscape(b []byte, unit rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}
