package detect

import "bytes"

// words are what a language looks for in the bytes of a file before it tells code, comments and strings apart: one of them
// is in every file that says something, and none in most files.
type words [][]byte

func lookFor(all ...string) words {
	var w words
	for _, word := range all {
		w = append(w, []byte(word))
	}
	return w
}

// in reports whether a text holds one of the words.
func (w words) in(text []byte) bool {
	for _, word := range w {
		if bytes.Contains(text, word) {
			return true
		}
	}
	return false
}
