package http2

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
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

// Integers that are too long are refused as golang.org/x/net refuses them: bytes of zeros may follow one, but not any
// number of them (RFC 7541 section 5.1).
func TestIntegersOfManyBytes(t *testing.T) {
	t.Parallel()
	for zeros := range 12 {
		for _, last := range []byte{0, 1} {
			block := append(bytes.Repeat([]byte{128}, zeros), last)
			block = append([]byte{tableSizeZero | 31}, block...) // a size of the table: 31 and more
			err := NewDecoder(TableSize).Decode(block, nil, nil)
			_, wantErr := hpack.NewDecoder(TableSize, nil).Write(block)
			if (err == nil) != (wantErr == nil) {
				t.Errorf("decoding %x: %v; x/net says %v", block, err, wantErr)
			}
		}
	}
}
