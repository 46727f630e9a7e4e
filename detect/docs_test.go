package detect

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The table of docs/detection.md is made of what the languages say of themselves. UPDATE_GOLDEN=1 writes it.
func TestDetectionTableIsTheCode(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../docs/detection.md", "<!-- table: languages -->\n", "<!-- table end -->\n"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), begin)
	table, after, okEnd := strings.Cut(rest, end)
	if !ok || !okEnd {
		t.Fatalf("%s has no table between %q and %q", path, begin, end)
	}
	want := languageTable()
	if table == want {
		return
	}
	if os.Getenv("UPDATE_GOLDEN") == "" {
		t.Fatalf("%s is not what the code says (UPDATE_GOLDEN=1 writes it); the code says:\n%s", path, want)
	}
	if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func languageTable() string {
	var table strings.Builder
	table.WriteString("| language | framework | a server is | the health service is registered by |\n|---|---|---|---|\n")
	for _, l := range languages {
		names := []string{l.title}
		for _, title := range l.also {
			names = append(names, title)
		}
		slices.Sort(names)
		for _, f := range l.frameworks {
			fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", strings.Join(names, ", "), f.name, f.evidence, f.health)
		}
	}
	return table.String()
}
