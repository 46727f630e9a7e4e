package lazyregexp

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestLiteralsOfAllMatches(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`(?:\.|->)\s*(?P<at>BuildAndStart)\s*\(\s*\)`: "BuildAndStart",
		`\b(?:Append|AppendList)\b`:                   "Append",
		`\bclass\s+\w+(?:Service|Servicer)\b`:         "Service",
		`(?i:new)\s+Server\b`:                         "Server",
		`(?:one|two)?\w+`:                             "",
		`(?:Listen|Run|\w+)\(`:                        "(",
		`\w+\s*[({]\w+`:                               "( {",
		`\w+\s*[^{]`:                                  "",
		`a{0,2}(?:first|second)+`:                     "first second",
		`(?:abc){2,3}`:                                "abc",
		`^\s*$`:                                       "",
	} {
		if got := string(bytes.Join(New(pattern).Literals(), []byte(" "))); got != want {
			t.Errorf("the literals of %s are %q, want %q", pattern, got, want)
		}
	}
}

func TestLiteralsInAnyCase(t *testing.T) {
	t.Parallel()
	r := New(`(?i)\b(?:kind|\w*sort)\b`)
	for text, want := range map[string]bool{
		"a KIND of": true, "mySort": true, "kin": false, "": false, "sor": false, "\u212aind": true, "\u00e9": true,
	} {
		if got := r.MayMatch([]byte(text)); got != want {
			t.Errorf("MayMatch(%q) = %t, want %t", text, got, want)
		}
	}
}

// A text is searched for a literal of each part of an expression, except that a long one is not if the expression is
// anchored: it begins to fail at once.
func TestLiteralsOfEachPart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxAnchored) + "service"
	for _, test := range []struct {
		expression, text string
		want             bool
	}{
		{`service\s+\w*Health`, "service Greeter", false},
		{`service\s+\w*Health`, "Health of a service", true},
		{`(service(?:s|d)\w+(?i:health))`, "serviceds HEALTH", true},
		{`(service(?:s|d)\w+(?i:health))`, "serviceds", false},
		{`^abc.*health`, "service", false},
		{`^abc.*health`, long, true},
		{`abc.*health`, long, false},
	} {
		if got := New(test.expression).MayMatch([]byte(test.text)); got != test.want {
			t.Errorf("%s in %q: %t, want %t", test.expression, test.text, got, test.want)
		}
	}
}

// What an expression finds is what it finds without a search for literals.
func TestLiteralsChangeNoMatch(t *testing.T) {
	t.Parallel()
	words := []string{
		"env", "ENV", "Port", "por", "t", "k", "K", "\u212a", "\u017f", "s", " ", "\n", "(", "\xff", "\u00e9", ".",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, expression := range []string{
		`(?i)\w*env\(`, `(?i:port)|env`, `[pP]ort\s*\(`, `(?i)port(?:s|k)?`, `(?i)task|(?:ports|\.env)`, `(?i)é+env`,
		`(?i:k)por`, `(?:env)?por`, `^(?:env){2}`, `(?i)[ks]port`, `(?i)[ks]{3}`, `\bport\b|(?i)ENV$`,
	} {
		r, plain := New(expression), regexp.MustCompile(expression)
		for range 2000 {
			var text []byte
			for range random.IntN(12) {
				text = append(text, words[random.IntN(len(words))]...)
			}
			if got, want := r.Match(text), plain.Match(text); got != want {
				t.Fatalf("%s in %q: %t, want %t", expression, text, got, want)
			}
		}
	}
}
