package untrusted

import (
	"bytes"
	"fmt"

	"github.com/BurntSushi/toml"
)

const (
	// maxTOML bounds a file, in bytes. The decoder allocates up to 1,500 bytes for each byte of text. The largest
	// version catalogs and manifests of developers have a quarter of maxTOML.
	maxTOML = 256 << 10
	// maxPath bounds the names of the tables around a value plus the value's key, in bytes. The decoder writes all
	// names out for each value. Files of developers have a hundred bytes.
	maxPath = 1024
)

// DecodeTOML decodes text into v like toml.Decode, and returns toml.Decode's metadata of the keys. The error is the
// decoder's, or names the exceeded bound.
func DecodeTOML(text []byte, v any) (toml.MetaData, error) {
	if len(text) > maxTOML {
		return toml.MetaData{}, fmt.Errorf("reading TOML: %d bytes, more than %d", len(text), maxTOML)
	}
	if err := checkTOMLLevels(text); err != nil {
		return toml.MetaData{}, err
	}
	return toml.Decode(string(text), v)
}

// tomlPath is the depth of a place in a text: the names of the tables and arrays around the place.
type tomlPath struct {
	levels, bytes int
}

func (p tomlPath) plus(other tomlPath) tomlPath {
	return tomlPath{p.levels + other.levels, p.bytes + other.bytes}
}

// tomlScanner reads a text once, and knows nothing of TOML but strings, comments and nesting. Tables and arrays nest to
// maxDepth at most, and each part of a dotted key counts as a level: the decoder's time and memory grow with at least
// the square of the depth.
type tomlScanner struct {
	text   []byte
	line   int
	header tomlPath   // of the last [table]
	naming bool       // within the brackets of a [table]
	opened []tomlPath // of the open brackets, each with the key before the bracket
	around tomlPath   // the sum of opened
	key    tomlPath   // of the possible key, so far
}

// checkTOMLLevels returns an error for a text that nests deeper than maxDepth, or with longer names than maxPath.
func checkTOMLLevels(text []byte) error {
	s := tomlScanner{text: text, line: 1}
	for i := 0; i < len(text); i++ {
		end := i + 1
		switch text[i] {
		case '"', '\'':
			end = endOfTOMLString(text, i)
		case '#':
			if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
				end = i + n
			} else {
				end = len(text)
			}
		}
		s.line += bytes.Count(text[i+1:end], []byte("\n"))
		s.read(text[i], end-i)
		if at := s.header.plus(s.around).plus(s.key); at.levels > maxDepth {
			return fmt.Errorf("reading TOML: line %d nests deeper than %d levels", s.line, maxDepth)
		} else if text[i] == '=' && at.bytes > maxPath {
			return fmt.Errorf("reading TOML: line %d has names of more than %d bytes around a value", s.line, maxPath)
		}
		i = end - 1
	}
	return nil
}

// read takes in a character, a string or a comment, given by first character and length.
func (s *tomlScanner) read(first byte, length int) {
	switch first {
	case ' ', '\t', '\r', '=':
	case '{', '[':
		if len(s.opened) == 0 && s.key == (tomlPath{}) {
			s.header, s.naming = tomlPath{}, true // a line that begins with a bracket begins a table
		}
		s.key.levels++
		s.opened = append(s.opened, s.key)
		s.around, s.key = s.around.plus(s.key), tomlPath{}
	case '}', ']':
		if n := len(s.opened) - 1; n >= 0 {
			s.around.levels -= s.opened[n].levels
			s.around.bytes -= s.opened[n].bytes
			s.opened = s.opened[:n]
		}
		if s.naming {
			s.header = s.header.plus(s.key)
		}
		s.key = tomlPath{}
	case '.':
		s.key.levels++
	case ',':
		s.key = tomlPath{}
	case '\n':
		s.key, s.naming = tomlPath{}, false
		s.line++
	default:
		s.key.bytes += length
	}
}

// endOfTOMLString returns the index after the string that begins at start. An unclosed string ends with the line, an
// unclosed string of several lines with the text: the decoder fails there.
func endOfTOMLString(text []byte, start int) int {
	quote := text[start]
	if long := bytes.Repeat([]byte{quote}, 3); bytes.HasPrefix(text[start:], long) {
		for i := start + 3; i < len(text); i++ {
			switch {
			case text[i] == '\\' && quote == '"':
				i++
			case bytes.HasPrefix(text[i:], long):
				i += 3
				// Up to two more quotes still belong to the string.
				for n := 0; n < 2 && i < len(text) && text[i] == quote; n++ {
					i++
				}
				return i
			}
		}
		return len(text)
	}
	for i := start + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote:
			return i + 1
		case text[i] == '\n':
			return i
		}
	}
	return len(text)
}
