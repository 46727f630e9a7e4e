package hocon

import (
	"bytes"
	"strings"
)

// key reads the path of a field: words and quoted strings, with dots between them.
func (r *reader) key() (string, error) {
	var key []byte
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			part, err := r.quoted()
			if err != nil {
				return "", err
			}
			key = append(key, part...)
		case strings.IndexByte("=:{}[],+#\n", c) >= 0 || bytes.HasPrefix(r.text[r.at:], []byte("//")):
			return r.finished(key)
		case c == ' ' || c == '\t' || c == '\r':
			r.skip(false)
			return r.finished(key)
		default:
			key = append(key, c)
			r.at++
		}
	}
	return r.finished(key)
}

func (r *reader) finished(key []byte) (string, error) {
	if len(key) == 0 {
		return "", errSyntax
	}
	return string(key), nil
}

// value reads a value to the end of its line or its field: what several parts make together is their text. The value
// of an array is "".
func (r *reader) value() (string, error) {
	var value []byte
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			part, err := r.quoted()
			if err != nil {
				return "", err
			}
			value = append(value, part...)
		case c == '[' || c == '{':
			if err := r.brackets(); err != nil {
				return "", err
			}
		case bytes.HasPrefix(r.text[r.at:], []byte("${")):
			end := bytes.IndexAny(r.text[r.at:], "}\n")
			if end < 0 || r.text[r.at+end] == '\n' {
				return "", errSyntax
			}
			value = append(value, r.text[r.at:r.at+end+1]...)
			r.at += end + 1
		case strings.IndexByte(",}]\n#", c) >= 0 || bytes.HasPrefix(r.text[r.at:], []byte("//")):
			return string(bytes.TrimSpace(value)), nil
		default:
			value = append(value, c)
			r.at++
		}
	}
	return string(bytes.TrimSpace(value)), nil
}

// quoted reads a string in quotes, or in three.
func (r *reader) quoted() ([]byte, error) {
	if r.has(`"""`) {
		end := bytes.Index(r.text[r.at:], []byte(`"""`))
		if end < 0 {
			return nil, errSyntax
		}
		text := r.text[r.at : r.at+end]
		r.line += bytes.Count(text, []byte("\n"))
		r.at += end + len(`"""`)
		return text, nil
	}
	for end := r.at + 1; end < len(r.text) && r.text[end] != '\n'; end++ {
		switch r.text[end] {
		case '\\':
			end++
		case '"':
			text := r.text[r.at+1 : end]
			r.at = end + 1
			return text, nil
		}
	}
	return nil, errSyntax
}

// brackets skips an array, or an object within a value, to its closing bracket.
func (r *reader) brackets() error {
	for depth := 0; r.at < len(r.text); {
		r.skip(true)
		if r.at == len(r.text) {
			break
		}
		switch r.text[r.at] {
		case '"':
			if _, err := r.quoted(); err != nil {
				return err
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		r.at++
		if depth == 0 {
			return nil
		}
	}
	return errSyntax
}

// skip skips white space and, if lines says so, line breaks and comments.
func (r *reader) skip(lines bool) {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '\n' && lines:
			r.line++
			r.at++
		case c == ' ' || c == '\t' || c == '\r':
			r.at++
		case lines && (c == '#' || bytes.HasPrefix(r.text[r.at:], []byte("//"))):
			end := bytes.IndexByte(r.text[r.at:], '\n')
			if end < 0 {
				end = len(r.text) - r.at
			}
			r.at += end
		case bytes.HasPrefix(r.text[r.at:], []byte("\xef\xbb\xbf")):
			r.at += 3
		default:
			return
		}
	}
}

// has skips a mark if it comes next, and reports whether it does.
func (r *reader) has(mark string) bool {
	if !bytes.HasPrefix(r.text[r.at:], []byte(mark)) {
		return false
	}
	r.at += len(mark)
	return true
}

// rest reports whether one of the words comes next.
func (r *reader) rest(words ...string) bool {
	for _, word := range words {
		if bytes.HasPrefix(r.text[r.at:], []byte(word)) {
			return true
		}
	}
	return false
}
