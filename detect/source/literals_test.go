package source

import (
	"testing"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
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
		got := ""
		for i, literal := range newSearch(lazyregexp.New(pattern)).literals {
			if i > 0 {
				got += " "
			}
			got += string(literal)
		}
		if got != want {
			t.Errorf("the literals of %s are %q, want %q", pattern, got, want)
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
