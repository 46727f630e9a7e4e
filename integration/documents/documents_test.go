package documents_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

const repository = "../.."

// allDocuments are the README, its siblings and what is in docs.
func allDocuments(t *testing.T) []*documents.Document {
	t.Helper()
	all := must(documents.All(repository))(t)
	if len(all) < 5 {
		t.Fatalf("only %d documents were found", len(all))
	}
	return all
}

// TestDocumentBlocks checks each code block by what follows its opening fence:
//
//   - a language and the path of a file: the block is lines of that file, except their indentation
//   - sh: command lines, one per line, which the program that they start accepts; those of pack and docker, which may
//     not be installed, are checked by the test TestDocumentCommands of package integration
func TestDocumentBlocks(t *testing.T) {
	t.Parallel()
	programs := documents.Programs{Repository: repository}
	for _, d := range allDocuments(t) {
		for _, b := range d.Blocks {
			language, path, named := strings.Cut(b.Info, " ")
			switch {
			case named:
				file := must(os.ReadFile(filepath.Join(repository, path)))(t)
				if !b.IsPartOf(strings.Split(string(file), "\n")) {
					t.Errorf("%s:%d: the block is not part of %s:\n%s", d.Path, b.Line, path,
						strings.Join(b.Lines, "\n"))
				}
			case language == "sh":
				for _, command := range b.Commands() {
					if err := programs.Check(t.Context(), command); err != nil {
						t.Errorf("%s:%d: %s: %v", d.Path, b.Line, command, err)
					}
				}
			default:
				t.Errorf("%s:%d: nothing checks a block of %q: name the file that it is a part of, or call it sh",
					d.Path, b.Line, b.Info)
			}
		}
	}
}

// TestDocumentsShowExamples makes sure that each example is named in a document, or the folder of several.
func TestDocumentsShowExamples(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, d := range allDocuments(t) {
		text.Write(d.Text)
	}
	walkExamples(t, func(name string) {
		folder := filepath.Dir(name)
		if !strings.Contains(text.String(), name) &&
			(folder == "examples" || !strings.Contains(text.String(), folder)) {
			t.Errorf("no document names %s", name)
		}
	})
}

// walkExamples calls a function with the name of each file in examples, seen from the repository.
func walkExamples(t *testing.T, each func(name string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(repository), "examples", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			each(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// allTexts are the documents and the examples, by their paths.
func allTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, d := range allDocuments(t) {
		texts[d.Path] = string(d.Text)
	}
	walkExamples(t, func(name string) {
		texts[name] = string(must(os.ReadFile(filepath.Join(repository, name)))(t))
	})
	return texts
}

// ownVersion is how documents and examples name a version of the product: in the reference of an image, in a name of
// the registry of buildpacks, as a reference of git, and in the order of a buildpack. scripts/release sets it there.
var ownVersion = regexp.MustCompile(
	`(?:(?:/|urn:cnb:registry:grpc-cnb/)(?:grpc-)?health-probe[:@]|/kubectl-grpc_probes:|` +
		`\?ref=v|"grpc-cnb/health-probe"\s+version = ")` +
		`([0-9][0-9A-Za-z.+-]*)`)

// TestDocumentsNameTheVersion makes sure that examples and documents name the version of the buildpack that they are
// of.
func TestDocumentsNameTheVersion(t *testing.T) {
	t.Parallel()
	want := must(documents.Version(repository))(t)
	var found int
	for name, text := range allTexts(t) {
		for _, match := range ownVersion.FindAllStringSubmatch(text, -1) {
			found++
			if match[1] != want {
				t.Errorf("%s names version %s of the buildpack, which is %s", name, match[1], want)
			}
		}
	}
	if found == 0 {
		t.Error("no version is named")
	}
}

// TestDocumentLinks follows the links within the repository, to their headings.
func TestDocumentLinks(t *testing.T) {
	t.Parallel()
	anchors := map[string][]string{}
	for _, d := range allDocuments(t) {
		anchors[filepath.Clean(d.Path)] = d.Anchors
	}
	for _, d := range allDocuments(t) {
		for _, link := range d.Links {
			if strings.Contains(link, "://") {
				continue
			}
			name, anchor, _ := strings.Cut(link, "#")
			path := filepath.Join(filepath.Dir(d.Path), name)
			if name == "" {
				path = filepath.Clean(d.Path)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: the link %q leads nowhere: %v", d.Path, link, err)
			}
			if anchor != "" && !slices.Contains(anchors[path], anchor) {
				t.Errorf("%s: the link %q leads to no heading; there are %q", d.Path, link, anchors[path])
			}
		}
	}
}

// TestDocumentLines makes sure that the lines of prose are no longer than those of code. Tables have a line for each
// row, and the changelog one for each change.
func TestDocumentLines(t *testing.T) {
	t.Parallel()
	const width = 120
	for _, d := range allDocuments(t) {
		if filepath.Base(d.Path) == "CHANGELOG.md" {
			continue
		}
		for i, line := range strings.Split(string(d.Text), "\n") {
			isRow := strings.HasPrefix(line, "|") || strings.HasPrefix(line, "![")
			isLink := !strings.Contains(strings.TrimLeft(line, " -"), " ")
			if utf8.RuneCountInString(line) > width && !isRow && !isLink {
				t.Errorf("%s:%d: the line has more than %d characters: fill the paragraph again", d.Path, i+1, width)
			}
		}
	}
}
