package detect

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/internal/golden"
)

// The table in docs/detection.md is made from what the languages say about themselves. UPDATE_GOLDEN=1 writes it.
func TestDetectionTableIsTheCode(t *testing.T) {
	t.Parallel()
	checkTable(t, "../docs/detection.md", "<!-- table: languages -->\n", languageTable())
}

// The table in docs/languages.md is made from the same entries. UPDATE_GOLDEN=1 writes it.
func TestAdviceTableIsTheCode(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| language | framework | write, to have the health service |\n|---|---|---|\n")
	for _, a := range languages {
		l := a.Language()
		title, names := strings.Join(l.Titles(), ", "), ""
		for i, f := range l.Frameworks {
			names += f.Name
			if i+1 < len(l.Frameworks) && adviceCell(l.Frameworks[i+1]) == adviceCell(f) {
				names += ", "
				continue
			}
			fmt.Fprintf(&table, "| %s | %s | %s |\n", title, names, adviceCell(f))
			title, names = "", ""
		}
	}
	checkTable(t, "../docs/languages.md", "<!-- table: advice -->\n", table.String())
}

// adviceCell is what to write as code, with two back quotes around code that has one, or who registers the service if
// there is nothing to write.
func adviceCell(f analyzer.Framework) string {
	code := strings.ReplaceAll(f.Advice, "|", "\\|")
	switch {
	case code == "":
		return "nothing: it is registered by " + f.Health
	case strings.Contains(code, "`"):
		return "`` " + code + " ``"
	}
	return "`" + code + "`"
}

// checkTable compares the table in a document with what it is made from.
func checkTable(t *testing.T, path, begin, table string) {
	t.Helper()
	const end = "<!-- table end -->\n"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, okEnd := strings.Cut(rest, end)
	if !ok || !okEnd {
		t.Fatalf("%s has no table between %q and %q", path, begin, end)
	}
	golden.Check(t, path, before+begin+table+end+after)
}

// The README names all languages in its own order, so that nobody has to look for theirs in the table.
func TestReadmeNamesEachLanguage(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## What is recognised\n")
	_, list, ok := strings.Cut(section, "Servers written in ")
	list, _, _ = strings.Cut(strings.Join(strings.Fields(list), " "), ". ")
	if !ok {
		t.Fatal("README.md has no section \"What is recognised\" that lists the languages of servers")
	}
	named := regexp.MustCompile(`,| and `).Split(list, -1)
	for i := range named {
		named[i] = strings.TrimSpace(named[i])
	}
	for _, title := range titles() {
		if !slices.Contains(named, title) {
			t.Errorf("README.md: name %s among the languages in the section \"What is recognised\"", title)
		}
	}
}

func languageTable() string {
	var table strings.Builder
	table.WriteString("| language | framework | a server is | port, by default or in settings |\n|---|---|---|---|\n")
	for _, a := range languages {
		l := a.Language()
		title := strings.Join(l.Titles(), ", ")
		for _, f := range l.Frameworks {
			port := f.Settings
			if f.Port.Number != 0 {
				port = strings.TrimSuffix(fmt.Sprintf("%d; %s", f.Port.Number, f.Settings), "; ")
			}
			fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", title, f.Name, f.Evidence, port)
			title = ""
		}
	}
	return table.String()
}
