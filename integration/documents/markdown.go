// Package documents reads the repository's documents for a test: Markdown goes in, out come code blocks, links,
// headings and tables, and the reasons for which a program would refuse a block's command line. Begin with All;
// integration/documents_test.go has the rules.
package documents

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Document has the parts of a Markdown file for checks.
type Document struct {
	Path    string
	Text    []byte
	Blocks  []Block
	Links   []string // destinations of links and pictures
	Anchors []string // anchors of headings, in GitHub's form
	Rows    []Row    // rows of tables without heads
}

// Row is a row of a table: the head of the table's first column, and the cells' text as written.
type Row struct {
	Head  string
	Cells []string
}

// Block is a code block between fences.
type Block struct {
	Info  string // after the opening fence
	Line  int    // of the opening fence
	Lines []string
}

// All reads the Markdown files in the repository's root and in docs.
func All(repository string) ([]*Document, error) {
	var all []*Document
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		paths, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			d, err := Read(path)
			if err != nil {
				return nil, err
			}
			all = append(all, d)
		}
	}
	return all, nil
}

// Read reads a Markdown file, in GitHub's dialect.
func Read(path string) (*Document, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := &Document{Path: path, Text: source}
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	return d, ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			d.add(node)
		}
		return ast.WalkContinue, nil
	})
}

func (d *Document) add(node ast.Node) {
	switch node := node.(type) {
	case *ast.FencedCodeBlock:
		d.Blocks = append(d.Blocks, d.block(node.Info, node))
	case *ast.CodeBlock:
		d.Blocks = append(d.Blocks, d.block(nil, node))
	case *ast.Link:
		d.Links = append(d.Links, string(node.Destination))
	case *ast.Image:
		d.Links = append(d.Links, string(node.Destination))
	case *ast.Heading:
		d.Anchors = append(d.Anchors, d.anchor(node))
	case *table.TableRow:
		head := node.Parent().FirstChild().FirstChild()
		r := Row{Head: string(head.Lines().Value(d.Text))}
		for cell := node.FirstChild(); cell != nil; cell = cell.NextSibling() {
			r.Cells = append(r.Cells, string(cell.Lines().Value(d.Text)))
		}
		d.Rows = append(d.Rows, r)
	}
}

func (d *Document) block(info *ast.Text, node ast.Node) Block {
	var b Block
	if info != nil {
		b.Info = string(info.Segment.Value(d.Text))
	}
	lines := node.Lines()
	for i := range lines.Len() {
		segment := lines.At(i)
		b.Lines = append(b.Lines, strings.TrimRight(string(segment.Value(d.Text)), "\n"))
	}
	if lines.Len() > 0 {
		b.Line = bytes.Count(d.Text[:lines.At(0).Start], []byte("\n"))
	}
	return b
}

// anchor returns the heading in lower case, with - for spaces and without signs.
func (d *Document) anchor(heading *ast.Heading) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, string(heading.Lines().Value(d.Text)))
}

// IsPartOf reports whether the block's lines are consecutive lines of a file, apart from a common indentation.
func (b Block) IsPartOf(file []string) bool {
	if len(b.Lines) == 0 {
		return false
	}
	for from := range len(file) - len(b.Lines) + 1 {
		indentation, ok := strings.CutSuffix(file[from], b.Lines[0])
		if !ok || strings.TrimSpace(indentation) != "" {
			continue
		}
		if slices.EqualFunc(b.Lines, file[from:from+len(b.Lines)], func(line, other string) bool {
			return line == strings.TrimPrefix(other, indentation)
		}) {
			return true
		}
	}
	return false
}

var code = regexp.MustCompile("`([^`]+)`")

// Quoted returns the code in a column of the tables with the given head of the first column.
func (d *Document) Quoted(head string, column int) []string {
	var quotes []string
	for _, row := range d.Rows {
		if row.Head == head {
			for _, match := range code.FindAllStringSubmatch(row.Cells[column], -1) {
				quotes = append(quotes, match[1])
			}
		}
	}
	return quotes
}
