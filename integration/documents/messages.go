package documents

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/txtar"
)

var (
	// A whole line that a script compares standard error with, by a regular expression.
	whole = regexp.MustCompile(`(?m)^stderr (?:-count=\d+ )?'\^((?:error|hint): [^']*)\$'$`)
	// What stands before each error with -wait.
	trying = regexp.MustCompile(`^trying for \S+ \(attempts: [^)]*\): `)
)

// Messages returns the lines that the scripts in a folder expect, by how they begin: "error: ", "hint: " and "" for
// all. Lines of which only a part is expected are left out.
func Messages(folder string) (map[string][]string, error) {
	lines := map[string][]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		script := txtar.Parse(content)
		text := string(script.Comment)
		for _, match := range whole.FindAllStringSubmatch(text, -1) {
			text += "\n" + strings.NewReplacer(`\(`, "(", `\)`, ")").Replace(match[1])
		}
		for _, file := range script.Files {
			text += "\n" + string(file.Data)
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			lines[""] = append(lines[""], strings.TrimPrefix(line, "error: "))
			for _, kind := range []string{"error: ", "hint: "} {
				if message, ok := strings.CutPrefix(line, kind); ok && !strings.Contains(message, ".*") {
					lines[kind] = append(lines[kind], trying.ReplaceAllString(message, ""))
				}
			}
		}
		return nil
	})
	if err == nil && len(lines[""]) == 0 {
		err = fmt.Errorf("reading the scripts in %q: they expect nothing", folder)
	}
	return lines, err
}
