package http2

import (
	"bytes"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// The tables are as long as the protocol's, and the Huffman code is that of golang.org/x/net, byte by byte.
func TestTablesAreThoseOfTheProtocol(t *testing.T) {
	t.Parallel()
	if len(staticTable) != 61 {
		t.Errorf("the static table has %d entries", len(staticTable))
	}
	for c := range 256 {
		coded := hpack.AppendHuffmanString(nil, string([]byte{byte(c)}))
		if got, err := appendHuffman(nil, coded, 1); err != nil || !bytes.Equal(got, []byte{byte(c)}) {
			t.Errorf("%x decodes to %x, %v, want %x", coded, got, err, c)
		}
	}
}

// A Huffman-coded string is decoded, or refused, as golang.org/x/net does it.
func FuzzHuffman(f *testing.F) {
	f.Add([]byte("grpc-status"))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var want bytes.Buffer
		_, wantErr := hpack.HuffmanDecode(&want, b)
		got, err := appendHuffman(nil, b, 2*len(b))
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%x decodes to %x, %v; x/net says %x, %v", b, got, err, want.Bytes(), wantErr)
		}
	})
}
