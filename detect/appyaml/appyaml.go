// Package appyaml reads settings that an app brings as YAML. Read is all there is; what it reads is bounded, because an
// app is anybody's.
package appyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

const (
	// maxBytes is how long a file may be. The decoder takes up to 150 bytes for each, and people's settings have a tenth of it.
	maxBytes = 128 << 10
	// maxDepth is how many mappings and lists are entered that lie in each other. People's settings have six.
	maxDepth = 16
	// maxKey is how many bytes a key of a mapping may have. Every key below it begins with it.
	maxKey = 100
	// maxSettings is how many settings a file may come to. Aliases of aliases multiply.
	maxSettings = 20_000
)

// Document is one document of a file: its settings in the order that they stand in.
type Document []Setting

// Setting is a key and its value.
type Setting struct {
	// Key goes down from the document, with dots: grpc.port. An element of a list has a number: hosts[0].
	Key   string
	Value string // "" where it is no scalar, or none is there
	Line  int    // of the key, from 1; of the anchor's where it is an alias that brings it
}

// Get returns the setting of a key.
func (d Document) Get(key string) (Setting, bool) {
	for _, s := range d {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// Read returns the documents of a file. The error says what is wrong with the text, or that it is over a bound; the
// documents before that come with it.
func Read(text []byte) (documents []Document, err error) {
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

// Templates that a build or a start fills in are no YAML before: Maven's @name@, {{ }} and {% %} of Helm, Jinja and
// Ansible, ERB's <% %>. What is opened again before it is closed is none: looking on to the end of the line for each would
// take the square of its length.
var (
	template      = regexp.MustCompile(`@[\w.-]+@|\{\{[^{}\n]*\}\}|\{%[^%\n]*%\}|<%[^%\n]*%>`)
	templateLines = regexp.MustCompile(`(?m)^[ \t]*(?:\{\{.*\}\}|\{%.*%\}|<%.*%>)[ \t\r]*$`)
)

// withoutTemplates takes lines that are templates out of a text, and makes words of templates within lines, so that values
// are left that are not known. Every line stays where it is.
func withoutTemplates(text []byte) []byte {
	text = templateLines.ReplaceAll(text, nil)
	return template.ReplaceAllFunc(text, func(t []byte) []byte { return bytes.Repeat([]byte("_"), len(t)) })
}

// reader goes through the nodes of a document.
type reader struct {
	found Document
	left  int // settings that may still come
}

// read takes the settings below a key.
func (r *reader) read(key string, node *yaml.Node, depth int) {
	if depth > maxDepth {
		return
	}
	switch node = followed(node); node.Kind {
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

func (r *reader) add(key string, line int, value *yaml.Node, depth int) {
	if r.left--; r.left < 0 {
		return
	}
	s := Setting{Key: key, Line: line}
	if v := followed(value); v.Kind == yaml.ScalarNode && v.ShortTag() != "!!null" {
		s.Value = v.Value
	}
	r.found = append(r.found, s)
	r.read(key, value, depth+1)
}

// pair is a key of a mapping, and its value.
type pair struct{ key, value *yaml.Node }

// pairs returns what a mapping holds: its own keys, and those of mappings that it merges which it has not (yaml.org/type/merge.html).
func (r *reader) pairs(mapping *yaml.Node, depth int) []pair {
	var pairs []pair
	var merged []*yaml.Node
	own := map[string]bool{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := followed(mapping.Content[i]), followed(mapping.Content[i+1])
		switch {
		case key.Kind != yaml.ScalarNode || len(key.Value) > maxKey:
		case key.ShortTag() != "!!merge":
			own[key.Value] = true
			pairs = append(pairs, pair{key, value})
		case value.Kind == yaml.SequenceNode:
			// The same list may be merged again and again.
			if r.left -= len(value.Content); r.left >= 0 {
				merged = append(merged, value.Content...)
			}
		default:
			merged = append(merged, value)
		}
	}
	for _, from := range merged {
		from = followed(from)
		// A mapping may merge itself, and the same ones again and again.
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

// followed returns the node that an alias stands for, or the node itself.
func followed(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}
