package plan_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// A name in quotes stands for another name only: one that begins with a quote itself is quoted too.
func TestNamesOfAnAppArePrintable(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("a", 4096)
	for text, want := range map[string]string{
		"":               "",
		"a b/c\"d\".go":  "a b/c\"d\".go",
		"caf\u00e9.go":   "caf\u00e9.go",
		"\"a\".go":       `"\"a\".go"`,
		"a\nb":           `"a\nb"`,
		"a\u202eb":       `"a\u202eb"`,
		"a\xff":          `"a\xff"`,
		longest:          longest,
		longest + "more": strconv.Quote(longest),
	} {
		if got := plan.Printable(text); got != want {
			t.Errorf("%.20q becomes %.40s, want %.40s", text, got, want)
		}
	}
}
