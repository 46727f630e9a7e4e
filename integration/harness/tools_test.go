package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a script compiles ahead is compiled again if the harness has other options.
func TestScriptsCompileToolsAlike(t *testing.T) {
	t.Parallel()
	want := strings.Join(tools["pack"].settings(), " ")
	quotes := strings.NewReplacer("'", "", `"`, "")
	for _, script := range []string{"demo.sh", "test.sh", "tool.sh"} {
		content, err := os.ReadFile(filepath.Join("../../scripts", script))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(quotes.Replace(string(content)), want) {
			t.Errorf("scripts/%s compiles tools without %s", script, want)
		}
	}
}
