package metadata

import (
	"encoding/base64"
	"slices"
	"strings"
)

const (
	// minSecret is the least length of what is hidden, in bytes: shorter texts are words of any message, and no
	// secrets.
	minSecret = 4
	// minPart is how many bytes at the beginning of a longer secret are hidden too, if a server repeats no more of it.
	minPart = 8
	// minEncoded is the least length of a secret that is found in base64: of a shorter one it is the end of any word.
	minEncoded = 6
)

// Hide returns a text from a server with [hidden] in place of all values of headers: a server may repeat what it was
// sent. It finds them as they are, with percent encoding or backslashes, in base64 and beginning with at least eight
// bytes of theirs; and a token also without its scheme, such as Bearer.
func Hide(text string, headers []Header) string {
	if text == "" {
		return text
	}
	for _, secret := range secrets(headers) {
		text = hideBase64(hidePlain(text, secret), secret)
	}
	return text
}

// secrets returns what is to be hidden, the longest first: values, their words, and what Basic authentication encodes.
func secrets(headers []Header) (all []string) {
	add := func(secret string) {
		if len(secret) >= minSecret && !isScheme(secret) && !slices.Contains(all, secret) {
			all = append(all, secret)
		}
	}
	for _, h := range headers {
		add(h.Value)
		for word := range strings.FieldsSeq(h.Value) {
			add(word)
			decoded, err := base64.StdEncoding.DecodeString(word)
			if user, password, ok := strings.Cut(string(decoded), ":"); err == nil && ok {
				add(string(decoded))
				add(user)
				add(password)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// isScheme reports whether a word is a scheme of authentication, which is no secret.
func isScheme(word string) bool {
	return slices.Contains([]string{"basic", "bearer", "digest", "token", "apikey"}, strings.ToLower(word))
}

func hidePlain(text, secret string) string {
	var b strings.Builder
	for len(text) > 0 {
		matched, length := matchPlain(text, secret)
		if matched >= min(len(secret), minPart) {
			b.WriteString(hidden)
			text = text[length:]
			continue
		}
		b.WriteByte(text[0])
		text = text[1:]
	}
	return b.String()
}

// matchPlain returns how many bytes of a secret a text begins with, and how long they are in the text.
func matchPlain(text, secret string) (matched, length int) {
	for matched < len(secret) && length < len(text) {
		c, size := takeByte(text[length:], secret[matched])
		if c != secret[matched] {
			break
		}
		matched++
		length += size
	}
	return matched, length
}

// takeByte returns the byte that a text begins with, which may be escaped, and how long it is in the text. One that is
// the wanted byte as it stands is not taken for an escape.
func takeByte(text string, want byte) (c byte, size int) {
	for _, begin := range []string{"%", `\x`, `\u00`} {
		rest, ok := strings.CutPrefix(text, begin)
		if !ok || len(rest) < 2 {
			continue
		}
		if value, ok := parseHex(rest[:2]); ok && value == want {
			return value, len(begin) + 2
		}
	}
	if len(text) > 1 && text[0] == '\\' && text[1] == want {
		return want, 2
	}
	if text[0] == '+' && want == ' ' {
		return want, 1
	}
	return text[0], 1
}

// parseHex returns the byte that hexadecimal digits stand for.
func parseHex(digits string) (value byte, ok bool) {
	const hex = "0123456789abcdef"
	for _, digit := range strings.ToLower(digits) {
		i := strings.IndexRune(hex, digit)
		if i < 0 {
			return 0, false
		}
		value = value<<4 | byte(i)
	}
	return value, true
}

// hideBase64 hides each run of base64 that has the secret in it. How a secret is encoded depends on the number of bytes
// before it, of which three follow each other, and at its ends also on its neighbours.
func hideBase64(text, secret string) string {
	if len(secret) < minEncoded {
		return text
	}
	for shift := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + secret))
		first, last := (shift*8+5)/6, (shift+len(secret))*8/6
		standard := encoded[first:last]
		forURLs := strings.NewReplacer("+", "-", "/", "_").Replace(standard)
		for _, core := range []string{standard, forURLs} {
			for at := strings.Index(text, core); at >= 0; at = strings.Index(text, core) {
				before := strings.TrimRightFunc(text[:at], isBase64)
				after := strings.TrimLeftFunc(text[at+len(core):], isBase64)
				text = before + hidden + after
			}
		}
	}
	return text
}

func isBase64(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/-_=", r)
}
