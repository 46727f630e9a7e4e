package github

import (
	"net/url"
	"strings"
	"testing"
)

const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func TestFindChecksum(t *testing.T) {
	other := strings.Repeat("0", 64)
	for text, want := range map[string]string{
		digest + "  asset\n":                              digest,
		other + "  asset2\r\n" + digest + " *./asset\r\n": digest,
		strings.ToUpper(digest) + "  asset":               digest,
		digest:                                            "",
		digest + "  asset\n" + other + "  asset\n":        "",
		digest[1:] + "  asset":                            "",
		"<html>":                                          "",
	} {
		if got := findChecksum(text, "asset", false); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	if findChecksum(digest+"\n", "asset", true) != digest {
		t.Error("a file of one digest")
	}
}

func TestChecksumsFor(t *testing.T) {
	for _, name := range []string{
		"checksums.txt", "SHA256SUMS", "tool_1.0_SHA256SUMS", "asset.sha256",
		"tool_1.0_checksums.txt",
	} {
		if got := checksumsFor("asset", []string{"asset", "asset.sig", name, name + ".asc"}); got != name {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestListHasNoControlCharacters(t *testing.T) {
	if got := list([]string{"a", "b\x1b[2J\nc"}); got != `"a, b\x1b[2J\nc"` {
		t.Error(got)
	}
	if got := list([]string{"a", "b"}); got != "a, b" {
		t.Error(got)
	}
}

func TestParseAPI(t *testing.T) {
	const (
		noAddress = "it is not an address such as https://github.example.com/api/v3"
		notSecure = `"http" is not allowed: use https, since a token may be sent there`
		hasUser   = "it holds a user or a password, which belong in a token"
	)
	for address, want := range map[string]string{
		"https://api.github.com":             "https://api.github.com/",
		"https://API.GitHub.com":             "https://api.github.com/",
		"https://api.github.com.:443/":       "https://api.github.com/",
		"https://github.com":                 "https://api.github.com/",
		"HTTPS://GitHub.Example.com:443":     "https://github.example.com/api/v3/",
		"https://github.example.com:8443":    "https://github.example.com:8443/api/v3/",
		"https://github.example.com":         "https://github.example.com/api/v3/",
		"https://github.example.com/api/v3/": "https://github.example.com/api/v3/",
		"https://api.acme.ghe.com":           "https://api.acme.ghe.com/",
		"http://github.example.com":          notSecure,
		"https://user:secret@github.example": hasUser,
		"github.example.com":                 noAddress,
		"":                                   noAddress,
		"https://github.example.com/#x":      noAddress,
		"https://github.example.com:x":       noAddress,
		"https://github.example.com/?x=y":    noAddress,
	} {
		var got string
		if api, err := ParseAPI(address); err != nil {
			got = err.Error()
		} else {
			got = api.String()
		}
		if got != want {
			t.Errorf("%q is %s, want %s", address, got, want)
		}
	}
}

func TestMirrors(t *testing.T) {
	original, _ := url.Parse("https://github.com/o/n/releases/download/v1/a")
	for mirror, want := range map[string]string{
		"https://m.example.com/x": "https://m.example.com/x/o/n/releases/download/v1/a",
		"https://m.example.com/{originalHost}": "https://m.example.com/github.com/o/n/releases/" +
			"download/v1/a",
		"mirror=https://m.example.com,skip-path=/o/n/releases": "https://m.example.com/download/v1/a",
		"file:///mirror":       "file:///mirror/o/n/releases/download/v1/a",
		"http://m.example.com": "",
	} {
		got, _, err := (Mirrors{"github.com": mirror}).rewrite(original)
		if (err != nil) != (want == "") || err == nil && got.String() != want {
			t.Errorf("%s: %v, %v", mirror, got, err)
		}
	}
}

// FuzzFindChecksum checks that what it finds is a digest of the text.
func FuzzFindChecksum(f *testing.F) {
	f.Add(digest+"  asset\n", "asset", false)
	f.Fuzz(func(t *testing.T, text, asset string, own bool) {
		if got := findChecksum(text, asset, own); got != "" &&
			(!isSHA256(got) || !strings.Contains(strings.ToLower(text), got)) {
			t.Errorf("%q", got)
		}
	})
}
