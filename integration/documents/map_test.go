package documents_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

// mapped is a folder in the first column of the map, as code. With /... after it the folders in it are meant too.
var mapped = regexp.MustCompile("`([a-z][^`]*)`")

// TestMapHasEachPackage compares the map in CONTRIBUTING.md with the folders of the repository that have Go files.
func TestMapHasEachPackage(t *testing.T) {
	t.Parallel()
	var rows []string
	lines := 0
	for _, row := range must(documents.Read(filepath.Join(repository, "CONTRIBUTING.md")))(t).Rows {
		if row.Head != "folder" {
			continue
		}
		lines++
		for _, match := range mapped.FindAllStringSubmatch(row.Cells[0], -1) {
			rows = append(rows, match[1])
			folder := strings.TrimSuffix(match[1], "/...")
			if !exists(repository, folder) {
				t.Errorf("CONTRIBUTING.md: the map has the folder %s, which does not exist", folder)
			}
		}
	}
	const screen = 45
	if lines == 0 || lines > screen {
		t.Errorf("CONTRIBUTING.md: the map has %d lines; it is to fit on a screen, %d", lines, screen)
	}
	for _, folder := range must(goFolders(repository))(t) {
		if !isMapped(folder, rows) {
			t.Errorf("CONTRIBUTING.md: add the package %s to the map", folder)
		}
	}
}

// isMapped reports whether one of the rows is a folder, or a tree that it is in.
func isMapped(folder string, rows []string) bool {
	for _, row := range rows {
		tree, ok := strings.CutSuffix(row, "/...")
		if folder == tree || ok && strings.HasPrefix(folder, tree+"/") {
			return true
		}
	}
	return false
}
