package source

import "bytes"

// Keywords are words that an analyzer looks for in the bytes of a file before telling code, comments and strings apart:
// every file with a finding holds a keyword, and most files hold none.
type Keywords [][]byte

// NewKeywords returns the keywords as bytes.
func NewKeywords(all ...string) Keywords {
	var k Keywords
	for _, word := range all {
		k = append(k, []byte(word))
	}
	return k
}

// In reports whether a text holds one of the keywords.
func (k Keywords) In(text []byte) bool {
	for _, word := range k {
		if bytes.Contains(text, word) {
			return true
		}
	}
	return false
}
