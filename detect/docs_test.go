package detect

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/internal/golden"
)

// The table in docs/languages.md is made from what the languages say about themselves. UPDATE_GOLDEN=1 writes it.
func TestLanguageTableIsTheCode(t *testing.T) {
	t.Parallel()
	checkTable(t, "../docs/languages.md", "<!-- table: languages -->\n", languageTable())
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
	table.WriteString("| language | framework | a server is | to have the health service, write |\n|---|---|---|---|\n")
	for _, a := range languages {
		l := a.Language()
		title, before := strings.Join(l.Titles(), ", "), ""
		for _, f := range l.Frameworks {
			advice := adviceCell(f)
			if advice == before {
				advice = "the same"
			} else {
				before = advice
			}
			fmt.Fprintf(&table, "| %s | %s | %s%s | %s |\n", title, f.Name, f.Evidence, portOf(f), advice)
			title = ""
		}
	}
	return table.String()
}

// portOf is where a server listens by default, and where the framework is configured.
func portOf(f analyzer.Framework) string {
	var says []string
	if f.Port.Number != 0 {
		says = append(says, strconv.Itoa(f.Port.Number))
	}
	if f.Settings != "" {
		says = append(says, f.Settings)
	}
	if len(says) == 0 {
		return ""
	}
	return "<br>port: " + strings.Join(says, "; ")
}
