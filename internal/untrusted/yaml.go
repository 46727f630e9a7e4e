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
	// maxBytes bounds a file. The decoder allocates up to 150 bytes for each byte of text. Files of developers have a
	// tenth of maxBytes.
	maxBytes = 128 << 10
	// maxDepth bounds the levels of nested mappings and lists. Files of developers have six.
	maxDepth = 16
	// maxKey bounds a key of a mapping, in bytes. The names of all settings below repeat the key.
	maxKey = 100
	// maxSettings bounds the settings of a file after expansion: aliases of aliases multiply settings.
	maxSettings = 20_000
)

// Document is a document of a YAML file: the settings in the order of the file.
type Document []Setting

// Setting is a key of a document and its value.
type Setting struct {
	// Key is the path from the top of the document, with dots between the parts: grpc.port. The elements of a list have
	// numbers: hosts[0].
	Key string
	// Value is the text of a scalar. It is "" for null, a mapping or a list.
	Value string
	// Line is the line of the key, counted from 1; for a setting from an alias, the line at the anchor.
	Line int
}

// Get returns the first setting with the key, and whether the key exists.
func (d Document) Get(key string) (Setting, bool) {
	for _, s := range d {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// ReadYAML returns the documents of a YAML file. An error describes the mistake in the text or the exceeded bound, and
// comes with the documents before the mistake.
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

// A template is not valid YAML until the build or the start of an app fills it in: Maven's @name@, {{ }} and {% %} of
// Helm, Jinja and Ansible, ERB's <% %>. A template with a second opening before the closing does not match: a search to
// the end of the line for each opening would take time in the square of the line's length.
var (
	template      = lazyregexp.New(`@[\w.-]+@|\{\{[^{}\n]*\}\}|\{%[^%\n]*%\}|<%[^%\n]*%>`)
	templateLines = lazyregexp.New(`(?m)^[ \t]*(?:\{\{.*\}\}|\{%.*%\}|<%.*%>)[ \t\r]*$`)
)

// withoutTemplates empties template lines, and replaces a template within a line by underscores, a value without a
// meaning. The numbers of the lines stay the same.
func withoutTemplates(text []byte) []byte {
	text = templateLines.ReplaceAll(text, nil)
	return template.ReplaceAllFunc(text, func(t []byte) []byte { return bytes.Repeat([]byte("_"), len(t)) })
}

// reader collects the settings of a document.
type reader struct {
	found Document
	left  int // settings that may still be added
}

// read adds the settings below a node with the key.
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

// add adds the setting of a key, and all settings below.
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

type pair struct{ key, value *yaml.Node }

// pairs returns the pairs of a mapping: the mapping's own pairs, and the pairs of merged mappings with further keys
// (yaml.org/type/merge.html).
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

// resolveAlias returns the target of an alias, or the node itself.
func resolveAlias(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}
