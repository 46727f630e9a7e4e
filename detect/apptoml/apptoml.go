// Package apptoml decodes TOML that an app brings. Decode is all there is.
package apptoml

import (
	"bytes"
	"errors"

	"github.com/BurntSushi/toml"
)

// maxDots is how many dots a line may have. The decoder's time grows faster than the square of a key's length: 20,000 dots
// take half a minute. Keys of people have three, lines with versions and addresses a dozen.
const maxDots = 100

var errDots = errors.New("it has a line with more than 100 dots")

// Decode decodes text into v, as toml.Unmarshal does. The error is the decoder's, or says that the text is made to take
// long.
func Decode(text []byte, v any) error {
	for line := range bytes.Lines(text) {
		if bytes.Count(line, []byte(".")) > maxDots {
			return errDots
		}
	}
	return toml.Unmarshal(text, v)
}
