package source

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// A search in parts finds what one in the whole text finds.
func TestSearchInPartsFindsTheSame(t *testing.T) {
	t.Parallel()
	var patterns []*lazyregexp.Regexp
	for _, p := range []string{
		`\b(?P<name>\w+)(?:\[\w*\])?\s*=\s*`, `(?m)^[ \t]*def[ \t]+(?P<name>\w+)[ \t]*\(`, `(?m)^\s*a\s*=\s*$`,
		`a$`, `^a`, `(?:^|[^\w.])(?P<name>[a-z]\w*)\(`, `\ba\b`, `a\b`, `\Ba`, `[(,]\s*(?P<name>a+)\s*=`,
		`(?s)a.b`, `a.b`, `(?i)A=`,
		`(?m)a[^=;(]*?$`, `(?:a|b)+\(`, `a|`, `(?:a\s*=|def)`, `é=`, `\(\s*a\s*\)`, `(?m)(?:^|;)[ \t]*a`,
		`(?m)(?:^|[^\w.])a\s*[(=]`, `[(=]a`, `(?:^|[^.])\s*a\(`, `(?:^|[^a])a*=`, `(?:^|[^\w])(?:a|=)`,
		`(?:^|[^\w.=])a\s*\(`,
	} {
		patterns = append(patterns, lazyregexp.New(p))
	}
	words := []string{
		"a", "b", "def", " ", "\n", "\t", "(", ")", "=", ";", ",", ".", "[", "]", "é", "\xff", "A", "1", "$",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var code []byte
		for range random.IntN(30) {
			code = append(code, words[random.IntN(len(words))]...)
		}
		text := &Text{Raw: code, Code: code}
		for _, pattern := range patterns {
			limit := random.IntN(4) - 1
			want, got := pattern.FindAllSubmatchIndex(code, limit), text.FindAll(pattern, limit)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("FindAll(%s, %d) in %q: %v, want %v", pattern, limit, code, got, want)
			}
			matches, mentions := text.Matches(pattern), text.Mentions(pattern)
			if matches != pattern.Match(code) || matches && !mentions {
				t.Fatalf("%s in %q: matches %t, mentions %t", pattern, code, matches, mentions)
			}
		}
	}
}

func TestWordsAreWhole(t *testing.T) {
	t.Parallel()
	text := &Text{Code: []byte("import a\nreimport b; important\nx.import")}
	var got []int
	for at := range text.Words("import") {
		got = append(got, at)
	}
	if len(got) != 2 || got[0] != 0 || got[1] != 33 {
		t.Errorf("found the word at %v", got)
	}
}

func TestNoWordIsNowhere(t *testing.T) {
	t.Parallel()
	if HasWord([]byte("import a"), "") {
		t.Error("found the word \"\"")
	}
}
