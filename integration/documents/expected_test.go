package documents_test

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
	whole = regexp.MustCompile(`(?m)^stderr (?:-count=\d+ )?'\^(error: [^']*)\$'$`)
	// What stands before each error, the second with -wait.
	before = regexp.MustCompile(`^error: (?:trying for \S+ \(attempts: [^)]*\): )?`)
)

// expectedLines returns the lines that the scripts in a folder expect.
func expectedLines(folder string) ([]string, error) {
	var lines []string
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
			lines = append(lines, before.ReplaceAllString(strings.TrimSpace(line), ""))
		}
		return nil
	})
	if err == nil && len(lines) == 0 {
		err = fmt.Errorf("reading the scripts in %q: they expect nothing", folder)
	}
	return lines, err
}
