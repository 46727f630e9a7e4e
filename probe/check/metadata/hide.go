package metadata

import (
	"encoding/base64"
	"slices"
	"strings"
)

const (
	// minSecret is the least length of hidden text, in bytes: shorter texts are words of any message, and no secrets.
	minSecret = 4
	// minPart is the number of leading bytes of a longer secret that are hidden if a server repeats no more.
	minPart = 8
	// minEncoded is the least length of a secret found in digits: the digits of any words contain shorter secrets.
	minEncoded = 6
	// maxShown is the number of bytes kept of a server's text, twice as many as a line shows.
	maxShown = 2 << 10
)

// Hide returns a text from a server with [hidden] in place of all values of headers: a server may repeat headers. Hide
// finds values, without regard to case, in each [reading] of the text, and also parts with the first eight bytes of a
// value; a token also without its scheme, such as Bearer. Of a longer text Hide keeps the first 2 KiB.
func Hide(text string, headers []Header) string {
	if text == "" || len(headers) == 0 {
		return text
	}
	end := ""
	if len(text) > maxShown {
		text, end = text[:maxShown], "..."
	}
	s := search{secrets: secrets(headers), hides: make([]bool, len(text))}
	for begin := range s.secrets {
		s.begins[begin[0]] = true
	}
	s.read(asWritten(text), maxEncodings)
	var shown strings.Builder
	for i, hides := range s.hides {
		switch {
		case !hides:
			shown.WriteByte(text[i])
		case i == 0 || !s.hides[i-1]:
			shown.WriteString(hidden)
		}
	}
	return shown.String() + end
}

// secrets returns the texts to hide, folded, by their first bytes: values, their words, and the decoded credentials of
// Basic authentication.
func secrets(headers []Header) map[string][]string {
	all := map[string][]string{}
	add := func(secret string) {
		if secret = fold(secret); len(secret) >= minSecret && !isScheme(secret) {
			begin := secret[:minSecret]
			all[begin] = append(all[begin], secret)
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
	return all
}

// isScheme reports whether a folded word is a scheme of authentication, which is no secret.
func isScheme(word string) bool {
	return slices.Contains([]string{"basic", "bearer", "digest", "token", "apikey"}, word)
}

// fold returns a text without the usual changes of an echo: ASCII letters become lower case, and + signs become spaces,
// as in forms of HTML. The number of bytes stays the same.
func fold(text string) string {
	b := []byte(text)
	for i, c := range b {
		switch {
		case c >= 'A' && c <= 'Z':
			b[i] = c + 'a' - 'A'
		case c == '+':
			b[i] = ' '
		}
	}
	return string(b)
}

type search struct {
	secrets map[string][]string
	begins  [256]bool // the bytes that a secret begins with
	hides   []bool    // for each byte of the text, whether it belongs to a secret
}

// read finds secrets in a reading, and in its decoded readings with up to the given number of encodings.
func (s *search) read(r reading, encodings int) {
	s.find(r)
	if encodings == 0 {
		return
	}
	for _, decoded := range r.decode() {
		s.read(decoded, encodings-1)
	}
}

func (s *search) find(r reading) {
	text := fold(string(r.text()))
	for i := range max(0, len(text)-minSecret+1) {
		if !s.begins[text[i]] {
			continue
		}
		for _, secret := range s.secrets[text[i:i+minSecret]] {
			least := min(len(secret), minPart)
			if r.isDigits {
				least = max(least, minEncoded)
			}
			if n := commonPrefix(text[i:], secret); n >= least {
				for at := r.units[i].from; at < r.units[i+n-1].to; at++ {
					s.hides[at] = true
				}
			}
		}
	}
}

// commonPrefix returns the length of the common prefix of two texts, in bytes.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
