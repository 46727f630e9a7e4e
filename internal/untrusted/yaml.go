package untrusted

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

const (
	// maxBytes is how long a file may be. The decoder allocates up to 150 bytes for each byte of text. Files that
	// developers write have a tenth of this.
	maxBytes = 128 << 10
	// maxDepth is how many levels of nested mappings and lists are read. Files that developers write have six.
	maxDepth = 16
	// maxKey is how many bytes a key of a mapping may have. The names of all settings below the key repeat it.
	maxKey = 100
	// maxSettings is how many settings a file may expand to: aliases of aliases multiply them.
	maxSettings = 20_000
)

// Document is one document of a YAML file: its settings in the order of the file.
type Document []Setting

// Setting is a key of a document and its value.
type Setting struct {
	// Key is the path from the top of the document, with dots between its parts: grpc.port. The elements of a list are
	// numbered: hosts[0].
	Key string
	// Value is the text of a scalar. It is "" for null, a mapping or a list.
	Value string
	// Line is the line of the key, counted from 1. For a setting that comes from an alias it is the line at the anchor.
	Line int
}

// Get returns the first setting with the key, and whether there is one.
func (d Document) Get(key string) (Setting, bool) {
	for _, s := range d {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// ReadYAML returns the documents of a YAML file. An error says what is wrong with the text, or which bound it exceeds.
// It comes with the documents that were read before it.
func ReadYAML(text []byte) (documents []Document, err error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("reading YAML: %d bytes, more than %d", len(text), maxBytes)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(withoutTemplates(text)))
	for left := maxSettings; ; {
		var node yaml.Node
		if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return documents, fmt.Errorf("reading YAML: %w", err)
		}
		r := reader{left: left}
		r.read("", &node, 0)
		if left = r.left; left < 0 {
			return documents, fmt.Errorf("reading YAML: more than %d settings", maxSettings)
		}
		documents = append(documents, r.found)
	}
}

// A template that the build or the start of an app fills in is not valid YAML until then: Maven's @name@, {{ }} and {%
// %} of Helm, Jinja and Ansible, ERB's <% %>. A template that is opened again before it is closed does not count as
// one: searching to the end of the line for each opening would take time that grows with the square of the line's
// length.
var (
	template      = lazyregexp.New(`@[\w.-]+@|\{\{[^{}\n]*\}\}|\{%[^%\n]*%\}|<%[^%\n]*%>`)
	templateLines = lazyregexp.New(`(?m)^[ \t]*(?:\{\{.*\}\}|\{%.*%\}|<%.*%>)[ \t\r]*$`)
)

// withoutTemplates empties the lines that are templates, and replaces a template within a line by underscores, which
// make a value that means nothing. The numbers of the lines stay the same.
func withoutTemplates(text []byte) []byte {
	text = templateLines.ReplaceAll(text, nil)
	return template.ReplaceAllFunc(text, func(t []byte) []byte { return bytes.Repeat([]byte("_"), len(t)) })
}

// reader collects the settings of a document.
type reader struct {
	found Document
	left  int // how many settings may still be added
}

// read adds the settings below a node, whose key is key.
func (r *reader) read(key string, node *yaml.Node, depth int) {
	if depth > maxDepth {
		return
	}
	switch node = resolveAlias(node); node.Kind {
	case yaml.DocumentNode:
		r.read(key, node.Content[0], depth)
	case yaml.MappingNode:
		if key != "" {
			key += "."
		}
		for _, p := range r.pairs(node, depth) {
			r.add(key+p.key.Value, p.key.Line, p.value, depth)
		}
	case yaml.SequenceNode:
		for i, element := range node.Content {
			r.add(key+"["+strconv.Itoa(i)+"]", element.Line, element, depth)
		}
	}
}

// add adds the setting of a key, and all below it.
func (r *reader) add(key string, line int, value *yaml.Node, depth int) {
	if r.left--; r.left < 0 {
		return
	}
	s := Setting{Key: key, Line: line}
	if v := resolveAlias(value); v.Kind == yaml.ScalarNode && v.ShortTag() != "!!null" {
		s.Value = v.Value
	}
	r.found = append(r.found, s)
	r.read(key, value, depth+1)
}

// pair is a key of a mapping and its value.
type pair struct{ key, value *yaml.Node }

// pairs returns the pairs of a mapping: its own, and those of the mappings that it merges whose keys it does not have
// itself (yaml.org/type/merge.html).
func (r *reader) pairs(mapping *yaml.Node, depth int) []pair {
	var pairs []pair
	var merged []*yaml.Node
	own := map[string]bool{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := resolveAlias(mapping.Content[i]), resolveAlias(mapping.Content[i+1])
		switch {
		case key.Kind != yaml.ScalarNode || len(key.Value) > maxKey:
		case key.ShortTag() != "!!merge":
			own[key.Value] = true
			pairs = append(pairs, pair{key, value})
		case value.Kind == yaml.SequenceNode:
			// A text can merge the same list many times.
			if r.left -= len(value.Content); r.left >= 0 {
				merged = append(merged, value.Content...)
			}
		default:
			merged = append(merged, value)
		}
	}
	for _, from := range merged {
		from = resolveAlias(from)
		// A mapping can merge itself, or the same mapping many times.
		if r.left -= 1 + len(from.Content); r.left < 0 || depth == maxDepth || from.Kind != yaml.MappingNode {
			continue
		}
		for _, p := range r.pairs(from, depth+1) {
			if !own[p.key.Value] {
				own[p.key.Value] = true
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// resolveAlias returns the node that an alias stands for, or the node itself.
func resolveAlias(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}
