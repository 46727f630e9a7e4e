package lean

import "fmt"

const (
	// maxHeaderBytes bounds a header block, compressed, and what it decodes to (RFC 9113 section 6.5.2).
	maxHeaderBytes = 64 << 10
	// headerTableSize is the size of the table that the server may use (RFC 7541 section 4.2): the protocol's default.
	headerTableSize = 4096
)

// First bytes in a header block (RFC 7541 sections 6.2.1 and 6.3).
const (
	literalIndexed = 0x40
	tableSizeZero  = 0x20
)

// headerListSize returns the size of headers as the protocol counts it (RFC 9113 section 6.5.2).
func headerListSize(headers []header) (size uint32) {
	for _, h := range headers {
		size += uint32(len(h.name) + len(h.value) + 32)
	}
	return size
}

type header struct{ name, value string }

// encodeHeaders returns the header block of headers. It writes literals with incremental indexing (RFC 7541 section
// 6.2.1), which needs no state, because no index is ever used. It does not write literals without indexing: nginx 1.22
// treats a block of them as a protocol error on a stream that it has refused.
func encodeHeaders(headers []header) []byte {
	var b []byte
	for _, h := range headers {
		b = append(b, literalIndexed)
		b = appendString(b, h.name)
		b = appendString(b, h.value)
	}
	return b
}

// appendString appends a string literal that is not Huffman-coded (RFC 7541 section 5.2), its length as an integer with
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
