package python

import (
	"strings"
	"testing"
)

// Every wildcard import is a possible origin of every name, so a file with many of both would take very long.
func TestWildcardImportsAreBounded(t *testing.T) {
	i := readImports(grammar.Read([]byte(strings.Repeat("from a import *\n", 1000))))
	if n := len(i.resolve("AServicer")); n != maxWildcards+1 {
		t.Errorf("a name may stand for %d names, want %d", n, maxWildcards+1)
	}
}

// The list of a statement is read up to its parenthesis, so statements within lists would take very long.
func TestStatementsInListsOfOthersAreSkipped(t *testing.T) {
	i := readImports(grammar.Read([]byte("from a import (b,\nfrom c import d)\nfrom e import f\n")))
	if i.names["d"] != "" || i.names["f"] != "e.f" {
		t.Errorf("imported %v", i.names)
	}
}
