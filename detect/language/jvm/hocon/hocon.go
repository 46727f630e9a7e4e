// Package hocon reads settings in HOCON, the format of application.conf in Play, Akka, Pekko and Helidon
// (github.com/lightbend/config, HOCON.md). Anybody may have written an app, so the size of a text, how deep it nests
// and how many settings it has are bounded.
//
// Begin with [Read].
package hocon

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// maxBytes is how long a file may be. Files that people write have a tenth of this.
	maxBytes = 128 << 10
	// maxDepth is how many levels of nested objects are read. Files that people write have six.
	maxDepth = 16
	// maxKey is how many bytes the path of a setting may have.
	maxKey = 400
	// maxSettings is how many settings of a file are read.
	maxSettings = 20_000
)

// Setting is a key of a file and its value.
type Setting struct {
	// Key is the path from the top of the file, with dots between its parts: play.server.http.port; "" for a file that
	// is included.
	Key string
	// Value is the text of a string, a number or a substitution (${PORT}), "" for an array; the name of an included
	// file, "" for one that is included in an object or in another way than by its name.
	Value string
	// Line is the line of the key, counted from 1.
	Line int
}

var errSyntax = errors.New("no key, or a bracket or a quote that is not closed")

// Read returns the settings of a file in their order: one that is set again is there twice. Included files are named
// and not read. An error says what is wrong with the text, or which bound it exceeds. It comes with the settings before
// it.
func Read(text []byte) ([]Setting, error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("reading HOCON: %d bytes, more than %d", len(text), maxBytes)
	}
	r := reader{text: text, line: 1}
	if err := r.file(); err != nil {
		return r.found, fmt.Errorf("reading HOCON: line %d: %w", r.line, err)
	}
	return r.found, nil
}

// reader goes through a text once.
type reader struct {
	text  []byte
	at    int
	line  int
	found []Setting
}

// file reads the object that a file is, with braces around it or without.
func (r *reader) file() error {
	r.skip(true)
	braces := r.has("{")
	if err := r.object("", 0, braces); err != nil {
		return err
	}
	if r.skip(true); r.at < len(r.text) {
		return errSyntax
	}
	return nil
}

// object reads the fields of an object whose path is key, and the brace after them.
func (r *reader) object(key string, depth int, braces bool) error {
	if depth > maxDepth {
		return fmt.Errorf("more than %d levels", maxDepth)
	}
	for {
		r.skip(true)
		switch {
		case r.has(","):
			continue
		case braces && r.has("}"):
			return nil
		case r.at == len(r.text) && !braces:
			return nil
		}
		if err := r.field(key, depth); err != nil {
			return err
		}
	}
}

// field reads a key and its value.
func (r *reader) field(prefix string, depth int) error {
	line := r.line
	key, err := r.key()
	if err != nil {
		return err
	}
	if strings.HasPrefix(key, "include") && r.rest("\"", "required", "file", "url", "classpath") {
		isNamed := prefix == "" && r.rest("\"")
		name, err := r.value()
		if !isNamed {
			name = ""
		}
		r.found = append(r.found, Setting{"", name, line})
		return err
	}
	if prefix != "" {
		key = prefix + "." + key
	}
	if len(key) > maxKey || len(r.found) >= maxSettings {
		return fmt.Errorf("a key of more than %d bytes, or more than %d settings", maxKey, maxSettings)
	}
	r.skip(true)
	if isObject := r.has("{"); isObject {
		return r.object(key, depth+1, true)
	}
	if !r.has("+=") && !r.has("=") && !r.has(":") {
		return errSyntax
	}
	r.skip(true)
	if isObject := r.has("{"); isObject {
		return r.object(key, depth+1, true)
	}
	value, err := r.value()
	r.found = append(r.found, Setting{key, value, line})
	return err
}
