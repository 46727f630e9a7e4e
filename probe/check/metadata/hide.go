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
	// minEncoded is the least length of a secret that is found in digits: a shorter one is in the digits of any words.
	minEncoded = 6
	// maxShown is how many bytes of a server's text are kept, twice as many as a line shows.
	maxShown = 2 << 10
)

// Hide returns a text from a server with [hidden] in place of all values of headers: a server may repeat what it was
// sent. It finds them, without regard to case, in each [reading] of the text, and also what begins with eight bytes of
// theirs; a token also without its scheme, such as Bearer. Of a longer text it keeps the first 2 KiB.
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

// secrets returns what is to be hidden, folded, by its first bytes: values, their words, and what Basic
// authentication encodes.
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

// fold returns a text without what may change in an echo: ASCII letters in lower case, and spaces for + signs, which
// forms of HTML have in place of spaces. It has as many bytes as the text.
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

// search finds secrets in a text.
type search struct {
	secrets map[string][]string
	begins  [256]bool // the bytes that a secret begins with
	hides   []bool    // for each byte of the text, whether it belongs to a secret
}

// read finds secrets in a reading, and in what that reads as with up to so many encodings.
func (s *search) read(r reading, encodings int) {
	s.find(r)
	if encodings == 0 {
		return
	}
	for _, decoded := range r.decode() {
		s.read(decoded, encodings-1)
	}
}

// find finds secrets in one reading.
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

// commonPrefix returns how many bytes two texts begin with in common.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
