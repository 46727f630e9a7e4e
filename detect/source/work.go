package source

import (
	"fmt"
	"io"
	"sync/atomic"
	"unicode/utf8"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// maxReads is how often a search may read each byte of a text, on average; 0 if nothing is counted.
var maxReads atomic.Int64

// LimitSearches makes every [Text.FindAll] count the runes read, and panic at more than times as many runes as the text
// has bytes: the time of such a search grows with the square of the text. The count does not depend on the speed of the
// machine. 0 ends the counting. LimitSearches is for tests, since counting makes searches slow.
func LimitSearches(times int) { maxReads.Store(int64(times)) }

// countSearch searches by a reader that counts. As in FindAll, the search for each match begins after the previous
// match.
func countSearch(pattern *lazyregexp.Regexp, code []byte, limit int) {
	times := int(maxReads.Load())
	if times == 0 {
		return
	}
	r := &countingReader{text: code}
	for found := 0; found != limit && r.at <= len(code); found++ {
		begin := r.at
		match := pattern.FindReaderIndex(r)
		if r.read > times*len(code)+1000 {
			panic(fmt.Sprintf("a search for %s read %d runes of a text of %d bytes", pattern, r.read, len(code)))
		}
		if match == nil {
			return
		}
		r.at = begin + max(match[1], 1)
	}
}

// countingReader is an io.RuneReader that counts the runes read.
type countingReader struct {
	text []byte
	at   int
	read int
}

func (r *countingReader) ReadRune() (rune, int, error) {
	if r.at >= len(r.text) {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.text[r.at:])
	r.at += size
	r.read++
	return c, size, nil
}
