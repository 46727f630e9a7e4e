package http2

import (
	"strings"
	"testing"
)

// A field that fills the table stays in it, and one that is larger empties it (RFC 7541 section 4.4).
func TestFieldAsLargeAsTheTable(t *testing.T) {
	t.Parallel()
	for more, stays := range []bool{true, false} {
		block := AppendField(nil, "n", strings.Repeat("v", TableSize-fieldOverhead-len("n")+more))
		block = append(block, 1<<7|byte(len(staticTable)+1)) // the newest field of the table
		fields := 0
		err := NewDecoder(4*TableSize).Decode(block, nil, func(_, _ []byte) error { fields++; return nil })
		if (err == nil) != stays || fields != 1 && !stays {
			t.Errorf("of a field with %d bytes more than the table, %d are decoded: %v", more, fields, err)
		}
	}
}
