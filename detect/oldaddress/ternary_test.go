package address

import (
	"strings"
	"testing"
)

func TestQuestionMarksOfConditions(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"secure ? a : b":                     true,
		"secure ? .tls : .plaintext":         true,
		"secure ?\n  a : b":                  true,
		"let key = try? load()":              false,
		"value as? String":                   false,
		"tls_config(tls)?      .add(x)":      false,
		"from_pem(read(a)?, read(b))":        false,
		"fun serve(host: String?, port: Int": false,
		"a ?? b":                             false,
	} {
		if got := isTernary([]byte(code), strings.IndexByte(code, '?')); got != want {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
}
