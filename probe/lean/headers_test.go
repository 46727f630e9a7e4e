package lean

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

// A header block is either decoded as golang.org/x/net decodes it, or refused. So is a second block, which shares the
// table with the first. What x/net accepts and this decoder refuses is against the protocol, as a size update that
// comes late is (RFC 7541 section 4.2), or is never sent, as an integer of more than 28 bits is not. FuzzHeaderDecoding
// checks that it refuses nothing else.
func FuzzHeaders(f *testing.F) {
	for _, block := range []string{
		"\x88", "\x40\x01a\x01b\xbe", "\x3f\xe1\xff\xff\x07", "\x00\x84\xff\xff\xff\xff\x00",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		f.Add([]byte(block), []byte("\xbe"))
	}
	f.Add([]byte("\x40\x01a\x7f\xa1\x1e"+strings.Repeat("v", 4000)), bytes.Repeat([]byte{0xbe}, 12000))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		decoder, oracle := newHeaderDecoder(), hpack.NewDecoder(http2.TableSize, nil)
		for _, block := range [][]byte{first, second} {
			got, err := decoder.decode(block)
			if err != nil {
				return
			}
			want, err := oracle.DecodeFull(block)
			if err != nil && strings.Contains(err.Error(), "size update MUST occur at the beginning") {
				return // It takes the second of two at the beginning, which section 4.2 allows, for a late one.
			}
			if err != nil {
				t.Fatalf("%x is taken, x/net says %v", block, err)
			}
			checkHeaders(t, got, want)
		}
	})
}

// The static table is compared with that of golang.org/x/net, entry by entry.
func TestStaticTableIsThatOfTheProtocol(t *testing.T) {
	t.Parallel()
	for i := 1; i <= 61; i++ {
		block := []byte{0x80 | byte(i)}
		want, err := hpack.NewDecoder(http2.TableSize, nil).DecodeFull(block)
		if err != nil {
			t.Fatal(err)
		}
		got, err := newHeaderDecoder().decode(block)
		if err != nil {
			t.Fatal(err)
		}
		checkHeaders(t, got, want)
	}
}

func checkHeaders(t *testing.T, got []header, want []hpack.HeaderField) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d headers, want %d", len(got), len(want))
	}
	size := 0
	for i, h := range got {
		if h.name != want[i].Name || h.value != want[i].Value {
			t.Errorf("header %d is %q, want %q", i, h, want[i])
		}
		size += len(h.name) + len(h.value) + 32
	}
	if size > maxHeaderBytes {
		t.Errorf("%d bytes of headers", size)
	}
}

// A server reads the same headers that are sent.
func FuzzHeaderEncoding(f *testing.F) {
	f.Add("te", "trailers")
	f.Add("", strings.Repeat("v", 126))
	f.Add(strings.Repeat("n", 127), strings.Repeat("v", 255))
	f.Add("n", strings.Repeat("v", 1<<15))
	f.Fuzz(func(t *testing.T, name, value string) {
		headers := []header{{name, value}, {value, name}}
		fields, err := hpack.NewDecoder(http2.TableSize, nil).DecodeFull(encodeHeaders(headers))
		if err != nil {
			t.Fatal(err)
		}
		if len(fields) != 2 || fields[0].Name != name || fields[0].Value != value || fields[1].Name != value ||
			fields[1].Value != name {
			t.Errorf("%q are read as %q", headers, fields)
		}
	})
}

// Everything that golang.org/x/net encodes is decoded, with and without tables and the Huffman code, and with a table
// of any size.
func FuzzHeaderDecoding(f *testing.F) {
	f.Add("content-type", "application/grpc", uint16(4096))
	f.Add("grpc-status", "0", uint16(0))
	f.Add(":status", "\x00\xff\x1b", uint16(64))
	f.Add("", strings.Repeat("~", 5000), uint16(100))
	f.Add("n", strings.Repeat("v", 40_000), uint16(4096))
	f.Add("ab", "cd", uint16(70)) // full, by 32 bytes for each of two fields and 6 of theirs
	f.Fuzz(func(t *testing.T, name, value string, table uint16) {
		fields := []hpack.HeaderField{
			{Name: name, Value: value},
			{Name: value, Value: name, Sensitive: true},
			{Name: ":status", Value: "200"},
			{Name: name},
		}
		var block bytes.Buffer
		encoder, decoder := hpack.NewEncoder(&block), newHeaderDecoder()
		size := 32*len(fields) + 3*len(name) + 2*len(value) + len(":status200")
		for _, table := range []uint32{4096, uint32(table), 1000} {
			encoder.SetMaxDynamicTableSize(table)
			block.Reset()
			for _, field := range fields {
				_ = encoder.WriteField(field) // A bytes.Buffer takes everything.
			}
			got, err := decoder.decode(block.Bytes())
			if tooLarge := size > maxHeaderBytes; tooLarge != isTooLarge(err) {
				t.Fatalf("headers of %d bytes: %v", size, err)
			} else if tooLarge {
				return
			}
			if err != nil {
				t.Fatalf("decoding %x: %v", block.Bytes(), err)
			}
			checkHeaders(t, got, fields)
		}
	})
}

func isTooLarge(err error) bool {
	_, ok := errors.AsType[*http2.TooLargeError](err)
	return ok
}
