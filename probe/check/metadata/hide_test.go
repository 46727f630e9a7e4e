package metadata

import (
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const token = "s3cr%t/+Token=\"\\9876"

// encodings are what a server may write a text with.
var encodings = map[string]func(string) string{
	"plain":             func(s string) string { return s },
	"capitals":          strings.ToUpper,
	"Go":                strconv.Quote,
	"Go, ASCII":         strconv.QuoteToASCII,
	"C, hexadecimal":    func(s string) string { return eachByte(`\x%02x`, s) },
	"C, octal":          func(s string) string { return eachByte(`\%03o`, s) },
	"C, list":           func(s string) string { return eachByte("0x%02x, ", s) },
	"JSON, units":       func(s string) string { return eachByte(`\u%04X`, s) },
	"URL, query":        url.QueryEscape,
	"URL, path":         url.PathEscape,
	"URL, all":          func(s string) string { return eachByte("%%%02x", s) },
	"HTML":              html.EscapeString,
	"HTML, decimal":     func(s string) string { return eachByte("&#%d;", s) },
	"HTML, hexadecimal": func(s string) string { return eachByte("&#x%X;", s) },
	"hex":               func(s string) string { return fmt.Sprintf("%x", s) },
	"hex, capitals":     func(s string) string { return fmt.Sprintf("%X", s) },
	"hex, spaced":       func(s string) string { return fmt.Sprintf("% x", s) },
	"hex, colons":       func(s string) string { return eachByte("%02X:", s) },
	"base32":            func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
	"base64":            func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64, raw":       func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte("a" + s)) },
	"base64, URL":       func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("ab" + s + "!")) },
	"base64, lines": func(s string) string {
		text := base64.StdEncoding.EncodeToString([]byte(s))
		return text[:len(text)/2] + "\r\n" + text[len(text)/2:]
	},
}

func eachByte(format, text string) (all string) {
	for i := range len(text) {
		all += fmt.Sprintf(format, text[i])
	}
	return all
}

// isFound reports whether a secret is found in an encoding. Digits of a short one are in any text, and a text in
// capitals is another one unless it is ASCII.
func isFound(name, secret string) bool {
	switch {
	case len(secret) < minSecret, isScheme(fold(secret)):
		return false
	case name == "capitals", strings.HasPrefix(name, "HTML"), name == "JSON, units":
		return IsText(secret)
	case strings.HasPrefix(name, "Go"):
		return utf8.ValidString(secret)
	}
	return len(secret) >= minEncoded || !strings.HasPrefix(name, "base") && !strings.HasPrefix(name, "hex") &&
		name != "C, list"
}

func TestHideFindsValuesHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		token, `pass\\word99`, `a\b"c<d>&'e`, "100%25%41-+ x", `\101\x41\u0041`, "&amp;&lt;#",
	} {
		for name, encode := range encodings {
			written := encode(secret)
			if got := Hide("no <"+written+">", []Header{{"x-token", secret}}); strings.Contains(got, written) {
				t.Errorf("%s: %q is shown of %q", name, written, secret)
			}
		}
	}
}

func TestHideFindsValuesInTwoEncodings(t *testing.T) {
	t.Parallel()
	headers := []Header{{"authorization", "Bearer " + token}}
	for outerName, outer := range encodings {
		for innerName, inner := range encodings {
			written := outer(inner(token))
			got := Hide("invalid <"+written+">", headers)
			for _, part := range []string{written, written[:len(written)/2], written[len(written)/2:]} {
				if outerName != "capitals" && innerName != "capitals" && strings.Contains(got, part) {
					t.Errorf("%s of %s: %q is shown in %q", outerName, innerName, part, got)
				}
			}
			if !strings.HasPrefix(got, "invalid <") || !strings.HasSuffix(got, ">") {
				t.Errorf("%s of %s: too much is hidden in %q", outerName, innerName, got)
			}
		}
	}
}

func TestHideFindsPartsOfValues(t *testing.T) {
	t.Parallel()
	headers := []Header{
		{"authorization", "Bearer " + token},
		{"x-basic", "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:pa55word"))},
		{"x-bin", "\x00\x01\x02binary"},
	}
	for _, written := range []string{
		"bearer " + token, token[:12], "admin:pa55word", "PA55WORD", fmt.Sprintf("%q", "\x00\x01\x02binary"),
		base64.StdEncoding.EncodeToString([]byte("Authorization=Bearer " + token)),
		base64.StdEncoding.EncodeToString([]byte("\x00\x01\x02binary")),
	} {
		if got := Hide("invalid <"+written+"> in the call", headers); strings.Contains(got, written) ||
			!strings.HasPrefix(got, "invalid <") || !strings.HasSuffix(got, "> in the call") {
			t.Errorf("%q is shown as %q", written, got)
		}
	}
}

// A server chooses the length of its text, and so what it costs to look for values in it.
func TestHideKeepsTheBeginningOfLongTexts(t *testing.T) {
	t.Parallel()
	headers := []Header{{"x-token", token}}
	if got := Hide(strings.Repeat("a", 1<<20)+token, headers); got != strings.Repeat("a", maxShown)+"..." {
		t.Errorf("%d bytes are kept", len(got))
	}
	if got := Hide(strings.Repeat(token, 1<<15), headers); len(got) > len(hidden)+minPart+len("...") {
		t.Errorf("what is all hidden is shown as %q", got)
	}
}

func TestHideLeavesOtherTexts(t *testing.T) {
	t.Parallel()
	const text = "Bearer token is missing: a b c, 100%, \\x, %zz, abcdefgh1234="
	for _, value := range []string{"a", "", "Bearer", "Bearer " + token, "abc"} {
		if got := Hide(text, []Header{{"authorization", value}}); got != text {
			t.Errorf("with the value %q it is %q", value, got)
		}
	}
	if got := Hide(text, nil); got != text {
		t.Errorf("without headers it is %q", got)
	}
}

func TestHideLeavesNothingOfValuesThatBeginAlike(t *testing.T) {
	t.Parallel()
	headers := []Header{{"x-tenant", "tenant"}, {"x-token", "tenant-s3cret"}, {"x-other", "tenant-s3"}}
	if got, want := Hide("no tenant-s3cret of tenant", headers), "no "+hidden+" of "+hidden; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

// A message may end in the middle of a value, and of a character that is escaped.
func TestHideFindsValuesAtTheEnd(t *testing.T) {
	t.Parallel()
	headers := []Header{{"x-token", `s3cret!`}}
	encoded := base64.StdEncoding.EncodeToString([]byte("s3cret!"))
	for text, want := range map[string]string{
		`s3cret!`:               hidden,
		`s3cret%21`:             hidden,
		`s3cret\x21`:            hidden,
		`s3cret\u0021`:          hidden,
		`s3cret\!`:              hidden,
		`s3cret%2`:              `s3cret%2`,
		`s3cret\`:               `s3cret\`,
		`%`:                     `%`,
		`\u00`:                  `\u00`,
		`s3cret\u0121`:          `s3cret\u0121`, // ġ, whose last eight bits are those of !
		`[` + encoded + `]`:     `[` + hidden + `]`,
		`{x=a+` + encoded + `}`: `{x=a+` + hidden + `}`,
	} {
		if got := Hide(text, headers); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// A text of three letters is no secret; of a long one the first eight bytes are hidden, and in base64 all from six
// bytes.
func TestHideBeginsAtALength(t *testing.T) {
	t.Parallel()
	for text, test := range map[string]struct{ value, want string }{
		"no abc":      {"abc", "no abc"},
		"no abcd":     {"abcd", "no " + hidden},
		"no s3cret-p": {"s3cret-password", "no " + hidden},
		"no s3cret-":  {"s3cret-password", "no s3cret-"},
		"no czNjcmU":  {"s3cre", "no czNjcmU"},
		"no czNjcmV0": {"s3cret", "no " + hidden},
	} {
		if got := Hide(text, []Header{{"x-token", test.value}}); got != test.want {
			t.Errorf("of %q with %q is left %q, want %q", text, test.value, got, test.want)
		}
	}
}

// What is hidden is hidden wherever it stands, and nothing is found in what has nothing of it.
func FuzzHide(f *testing.F) {
	f.Add("a", token, "b")
	f.Add("%", "100%secret", "=")
	f.Add("", `pass\\word99`, "")
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		secret = strings.TrimSpace(secret)
		if len(before)+len(secret)+len(after) > 300 {
			return
		}
		for name, encode := range encodings {
			written := encode(secret)
			if !isFound(name, secret) || strings.Contains(hidden, written) {
				continue
			}
			text := before + " " + written + " " + after
			got := strings.ReplaceAll(Hide(text, []Header{{"a", secret}}), hidden, "\n")
			if strings.Contains(got, written) {
				t.Errorf("%s: %q is in %q of %q", name, written, got, text)
			}
		}
	})
}
