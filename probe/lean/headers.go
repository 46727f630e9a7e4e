package lean

import (
	"errors"
	"fmt"

	"golang.org/x/net/http2/hpack"
)

const (
	// maxHeaderBytes bounds a header block, compressed, and what it decodes to (RFC 9113, section 6.5.2).
	maxHeaderBytes = 64 << 10
	// headerTableSize is the size of the table that the server may use (RFC 7541, section 4.2): the protocol's default.
	headerTableSize = 4096
)

type header struct{ name, value string }

// appendHeaders appends the header block of headers in the one form that needs neither state nor table: literals without
// indexing (RFC 7541, section 6.2.2). A probe sends a block once, so an index would never be used.
func appendHeaders(b []byte, headers []header) []byte {
	for _, h := range headers {
		b = append(b, 0)
		b = appendString(b, h.name)
		b = appendString(b, h.value)
	}
	return b
}

// appendString appends a string literal that is not Huffman-coded (RFC 7541, section 5.2), its length as an integer with
// a 7-bit prefix (section 5.1).
func appendString(b []byte, s string) []byte {
	n := len(s)
	if n < 127 {
		b = append(b, byte(n))
		return append(b, s...)
	}
	b = append(b, 127)
	for n -= 127; n >= 128; n >>= 7 {
		b = append(b, byte(n)|128)
	}
	b = append(b, byte(n))
	return append(b, s...)
}

var errHeadersTooLarge = fmt.Errorf("headers are over the limit of %d bytes", maxHeaderBytes)

// headerDecoder decodes header blocks, in the order they came in on the connection, whatever stream they are for.
type headerDecoder struct {
	hpack   *hpack.Decoder
	headers []header
	size    int
}

func newHeaderDecoder() *headerDecoder {
	d := &headerDecoder{}
	d.hpack = hpack.NewDecoder(headerTableSize, d.emit)
	d.hpack.SetMaxStringLength(maxHeaderBytes)
	return d
}

func (d *headerDecoder) emit(f hpack.HeaderField) {
	// 32 bytes of overhead a field is how the protocol counts (RFC 9113, section 6.5.2).
	if d.size += len(f.Name) + len(f.Value) + 32; d.size <= maxHeaderBytes {
		d.headers = append(d.headers, header{f.Name, f.Value})
	}
}

// decode returns the headers of a whole block, valid until the next call. An error ends the connection: the state of the
// compression is lost.
func (d *headerDecoder) decode(block []byte) ([]header, error) {
	d.headers, d.size = d.headers[:0], 0
	if _, err := d.hpack.Write(block); err != nil {
		return nil, headerError(err)
	}
	if err := d.hpack.Close(); err != nil {
		return nil, headerError(err)
	}
	if d.size > maxHeaderBytes {
		return nil, errHeadersTooLarge
	}
	return d.headers, nil
}

func headerError(err error) error {
	if errors.Is(err, hpack.ErrStringLength) {
		return errHeadersTooLarge
	}
	return fmt.Errorf("decoding headers: %w", err)
}
