package source

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// The one test that counts a search which takes too long: the tests of languages rely on the count.
func TestSearchesThatGrowWithTheSquareAreCounted(t *testing.T) {
	LimitSearches(16)
	defer LimitSearches(0)
	text := Grammar{}.Read([]byte(strings.Repeat("f(a ", 8<<10)))
	for pattern, quadratic := range map[string]bool{
		`f\(`:              false,
		`\w+`:              false,
		`f\([^;]*?;`:       false, // it never matches, so it is one pass
		`f\((?:[^;]*;)?`:   true,  // each match looks for the semicolon to the end of the text
		`f(?:[^)]{0,9}x)?`: false,
	} {
		t.Run(pattern, func(t *testing.T) {
			defer func() {
				if panicked := recover() != nil; panicked != quadratic {
					t.Errorf("the search was refused: %v, want %v", panicked, quadratic)
				}
			}()
			text.FindAll(lazyregexp.New(pattern), -1)
		})
	}
}
