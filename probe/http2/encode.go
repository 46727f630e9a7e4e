package http2

// literalIndexed begins a literal with incremental indexing in a header block, and tableSizeZero sets a table to the
// size 0 (RFC 7541 sections 6.2.1 and 6.3).
const (
	literalIndexed = 0x40
	tableSizeZero  = 0x20
)

// AppendField appends a field to a header block, as a literal with incremental indexing. No index is ever used, so no
// state is necessary. nginx 1.22 treats a block of literals without indexing as a protocol error on a refused stream.
func AppendField(b []byte, name, value string) []byte {
	return appendString(appendString(append(b, literalIndexed), name), value)
}

// AppendTableSizeZero appends the size 0 for the encoder's table to an empty block.
func AppendTableSizeZero(b []byte) []byte { return append(b, tableSizeZero) }

// FieldSize returns the size of a field as HTTP/2 counts.
func FieldSize(name, value string) int { return len(name) + len(value) + fieldOverhead }

// appendString appends a string literal without Huffman code (RFC 7541 section 5.2). The length is an integer with a
// 7-bit prefix (section 5.1).
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
