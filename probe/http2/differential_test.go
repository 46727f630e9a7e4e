package http2

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// Header blocks that follow one another on a connection are decoded, or refused, as golang.org/x/net does it: with
// tables of each size, and with bytes that a peer got wrong.
func TestBlocksAreReadAsByAnother(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) // always the same
	const connections, blocks = 2000, 6
	decoder := NewDecoder(1 << 20)
	read, refused := 0, 0
	for range connections {
		decoder.Reset(1 << 20)
		oracle := hpack.NewDecoder(TableSize, nil)
		var coded bytes.Buffer
		encoder := hpack.NewEncoder(&coded)
		for range blocks {
			coded.Reset()
			block := randomBlock(random, encoder, &coded)
			want, wantErr := oracle.DecodeFull(block)
			var got []hpack.HeaderField
			err := decoder.Decode(block, nil, func(name, value []byte) error {
				got = append(got, hpack.HeaderField{Name: string(name), Value: string(value)})
				return nil
			})
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%x is read with the error %v; x/net says %v", block, err, wantErr)
			}
			if err != nil {
				refused++
				break // the connection cannot be used
			}
			read++
			for i := range want {
				want[i].Sensitive = false
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%x is read as %v; x/net says %v", block, got, want)
			}
		}
	}
	if read < connections || refused < connections/10 {
		t.Errorf("only %d blocks were read, and %d refused", read, refused)
	}
}

// randomBlock returns a block with some fields, one in four of them with a byte that is wrong.
func randomBlock(random *rand.Rand, encoder *hpack.Encoder, coded *bytes.Buffer) []byte {
	if random.IntN(4) == 0 {
		sizes := []uint32{0, 30, 31, 70, 100, 300, TableSize - 1, TableSize}
		encoder.SetMaxDynamicTableSize(sizes[random.IntN(len(sizes))])
	}
	names := []string{":status", ":authority", "grpc-status", "x", "n", strings.Repeat("long", 40)}
	for range 1 + random.IntN(6) {
		length := random.IntN(40)
		if random.IntN(20) == 0 {
			length = random.IntN(2 * TableSize)
		}
		_ = encoder.WriteField(hpack.HeaderField{ // to memory
			Name: names[random.IntN(len(names))], Value: strings.Repeat(string(rune('a'+random.IntN(3))), length),
			Sensitive: random.IntN(8) == 0,
		})
	}
	block := bytes.Clone(coded.Bytes())
	if random.IntN(4) == 0 {
		at := random.IntN(min(len(block), 8))
		block[at] = byte(random.IntN(256))
	}
	return block
}
