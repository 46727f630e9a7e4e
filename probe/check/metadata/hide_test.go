package metadata

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

const token = "s3cr%t/+Token=\"\\9876"

func TestHideFindsValuesHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	headers := []Header{
		{"authorization", "Bearer " + token},
		{"x-basic", "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:pa55word"))},
		{"x-bin", "\x00\x01\x02binary"},
	}
	for _, written := range []string{
		token, "Bearer " + token, url.QueryEscape("Bearer " + token), url.PathEscape(token),
		strings.ToLower(url.QueryEscape(token[4:5])) + "",
		fmt.Sprintf("%q", token), fmt.Sprintf("%+q", "Bearer "+token),
		base64.StdEncoding.EncodeToString([]byte(token)), base64.URLEncoding.EncodeToString([]byte("a" + token)),
		base64.RawURLEncoding.EncodeToString([]byte("Bearer " + token + "!")),
		base64.StdEncoding.EncodeToString([]byte("Authorization=Bearer " + token)),
		token[:12], "admin:pa55word", "pa55word", fmt.Sprintf("%q", "\x00\x01\x02binary"),
		base64.StdEncoding.EncodeToString([]byte("\x00\x01\x02binary")),
	} {
		got := Hide("invalid <"+written+"> in the call", headers)
		if strings.Contains(got, "r%t/") || strings.Contains(got, "9876") || strings.Contains(got, "pa55") ||
			strings.Contains(got, "binary") ||
			!strings.HasPrefix(got, "invalid <") || !strings.HasSuffix(got, "> in the call") ||
			strings.Contains(got, written) && len(written) > 5 {
			t.Errorf("%q is shown as %q", written, got)
		}
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
		`{x=a+` + encoded + `}`: `{` + hidden + `}`,
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
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		if len(secret) < minSecret || strings.ContainsAny(secret, " \t\r\n") ||
			len(before)+len(secret)+len(after) > 2000 {
			return
		}
		headers := []Header{{"a", secret}}
		if strings.Contains(hidden, secret) {
			return
		}
		for _, text := range []string{before + secret + after, before + url.QueryEscape(secret) + after} {
			if got := Hide(text, headers); strings.Contains(got, secret) &&
				!strings.Contains(hidden+after+hidden, secret) && !strings.Contains(before+hidden, secret) {
				t.Errorf("%q is in %q of %q", secret, got, text)
			}
		}
	})
}
