package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// edit replaces a part of the text. At the same place the deepest edit comes first, since a container ends before the
// pod.
type edit struct {
	start, end, depth int
	text              string
}

// Bytes returns the text with all changes. If the changed text would not decode to the changed file, or if the file
// fits no edit of lines, Bytes returns an error.
func (f *File) Bytes() ([]byte, error) {
	if len(f.edits) == 0 {
		return f.text, nil
	}
	slices.SortStableFunc(f.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.depth, a.depth))
	})
	var changed []byte
	at := 0
	for _, e := range f.edits {
		if e.start < at {
			return nil, errUnfit
		}
		changed = append(append(changed, f.text[at:e.start]...), e.text...)
		at = e.end
	}
	changed = append(changed, f.text[at:]...)
	return changed, f.compare(changed)
}

// compare returns an error unless a text means the file with the changes.
func (f *File) compare(changed []byte) error {
	documents, err := decode(changed)
	if err != nil || len(documents) != len(f.documents) {
		return errUnfit
	}
	for i := range documents {
		var got, want any
		if err := f.documents[i].Decode(&want); err != nil {
			return fmt.Errorf("reading YAML: %w", err)
		}
		if documents[i].Decode(&got) != nil || !reflect.DeepEqual(got, want) {
			return errUnfit
		}
	}
	return nil
}

var errUnfit = errors.New("writing the probes: the text cannot be changed without changing the rest of it (write the " +
	"container in YAML's block style, one key per line, or have another program rewrite the file first)")

// add writes a new entry at the end of a mapping; at the beginning in JSON.
func (f *File) add(mapping *yaml.Node, key string, value *yaml.Node) error {
	entry := []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value}
	isFlow := mapping.Style&yaml.FlowStyle != 0
	defer func() { mapping.Content = append(mapping.Content, entry...) }()
	if isFlow {
		return f.insertFlow(mapping, value, key)
	}
	column := mapping.Column - 1
	end := f.blockEnd(mapping.Line-1, column, false)
	lines, err := f.lines(&yaml.Node{Kind: yaml.MappingNode, Content: entry}, column)
	f.edits = append(f.edits, edit{end, end, column, f.newline() + lines})
	return err
}

// replace writes another value for an entry of a mapping. For an entry without a value the comments beside and below it
// stay: the comments may be an example.
func (f *File) replace(mapping *yaml.Node, key string, value *yaml.Node) error {
	i := 0
	for mapping.Content[i].Value != key {
		i += 2
	}
	at, old := mapping.Content[i], mapping.Content[i+1]
	mapping.Content[i+1] = value
	if mapping.Style&yaml.FlowStyle != 0 {
		text, err := inline(value)
		start := f.offset(old)
		end := start + len(old.Value)
		if !isNull(old) {
			end = flowEnd(f.text, start)
		}
		f.edits = append(f.edits, edit{start, end, old.Column, text})
		return err
	}
	column := at.Column - 1
	lines, err := f.lines(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value,
	}}, column)
	if isNull(old) {
		start, end := f.offset(old), f.lineEnd(at.Line-1)
		_, below, _ := strings.Cut(lines, f.newline())
		f.edits = append(f.edits, edit{start, start + len(old.Value), column, ""},
			edit{end, end, column, f.newline() + below})
		return err
	}
	end := f.blockEnd(at.Line-1, column+1, false)
	f.edits = append(f.edits, edit{f.offset(at), end, column, strings.TrimLeft(lines, " ")})
	return err
}

// appendTo writes new items at the end of a mapping's list, or a new list; in JSON, at the beginning.
func (f *File) appendTo(mapping *yaml.Node, key string, items []*yaml.Node) error {
	list := get(mapping, key)
	switch {
	case len(items) == 0:
		return nil
	case list == nil:
		return f.add(mapping, key, &yaml.Node{Kind: yaml.SequenceNode, Content: items})
	case isNull(list):
		return f.replace(mapping, key, &yaml.Node{Kind: yaml.SequenceNode, Content: items})
	case list.Kind != yaml.SequenceNode:
		return fmt.Errorf("adding to %q: it is no list", key)
	case list.Style&yaml.FlowStyle != 0:
		for _, item := range items {
			if err := f.insertFlow(list, item, ""); err != nil {
				return err
			}
		}
		list.Content = append(items, list.Content...)
		return nil
	}
	column := list.Column - 1
	end := f.blockEnd(list.Line-1, column, true)
	lines, err := f.lines(&yaml.Node{Kind: yaml.SequenceNode, Content: items}, column)
	f.edits = append(f.edits, edit{end, end, column + 1, f.newline() + lines}) // perhaps the mapping's column
	list.Content = append(list.Content, items...)
	return err
}

// insertFlow writes a value after the opening bracket of a mapping or a list.
func (f *File) insertFlow(in, value *yaml.Node, key string) error {
	text, err := inline(value)
	if key != "" {
		text = fmt.Sprintf("%q: %s", key, text)
	}
	if len(in.Content) > 0 {
		text += ", "
	}
	at := f.offset(in) + 1
	f.edits = append(f.edits, edit{at, at, in.Column, text})
	return err
}

// inline returns a value in a line of JSON, which is YAML too.
func inline(value *yaml.Node) (string, error) {
	var decoded any
	if err := value.Decode(&decoded); err != nil {
		return "", err
	}
	text, err := json.Marshal(decoded)
	return string(text), err
}

// lines returns a value in YAML, each line indented, without the last line's end.
func (f *File) lines(value *yaml.Node, column int) (string, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	indent := strings.Repeat(" ", column)
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	return indent + strings.Join(lines, f.newline()+indent), nil
}

// newline returns the file's line ending.
func (f *File) newline() string {
	if bytes.Contains(f.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// offset returns the start of a node in the text. The parser counts characters.
func (f *File) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(f.starts) {
		return len(f.text)
	}
	at := f.starts[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(f.text[at:])
		at += size
	}
	return at
}

// blockEnd returns the end of the last line of a block that begins in a line and is indented by a column at least. A
// comment belongs to the block if it is indented so. The lines of a list at that column begin with a dash.
func (f *File) blockEnd(line, column int, isList bool) int {
	end := f.lineEnd(line)
	for line++; line < len(f.starts); line++ {
		text := string(f.text[f.starts[line]:f.lineEnd(line)])
		trimmed := strings.TrimLeft(text, " ")
		indent := len(text) - len(trimmed)
		switch {
		case strings.TrimSpace(trimmed) == "", trimmed[0] == '#' && indent < column:
			continue
		case indent < column, isList && indent == column && trimmed[0] != '-' && trimmed[0] != '#':
			return end
		}
		end = f.lineEnd(line)
	}
	return end
}

// lineEnd returns the end of a line, without the line ending.
func (f *File) lineEnd(line int) int {
	end := len(f.text)
	if line+1 < len(f.starts) {
		end = f.starts[line+1] - 1
	}
	if end > f.starts[line] && f.text[end-1] == '\r' {
		end--
	}
	return end
}

// flowEnd returns the end of the value in brackets that begins at a place.
func flowEnd(text []byte, at int) int {
	depth := 0
	var quote byte
	for ; at < len(text); at++ {
		switch c := text[at]; {
		case quote == '"' && c == '\\':
			at++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return at + 1
			}
		}
	}
	return at
}
