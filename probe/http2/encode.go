package http2

// literalIndexed begins a literal with incremental indexing in a header block, and tableSizeZero a table of the size 0
// (RFC 7541 sections 6.2.1 and 6.3).
const (
	literalIndexed = 0x40
	tableSizeZero  = 0x20
)

// AppendField appends a field to a header block. It writes a literal with incremental indexing, which needs no state,
// because no index is ever used. It does not write literals without indexing: nginx 1.22 treats a block of them as a
// protocol error on a stream that it has refused.
func AppendField(b []byte, name, value string) []byte {
	return appendString(appendString(append(b, literalIndexed), name), value)
}

// AppendTableSizeZero appends to an empty block that the table of its encoder has the size 0.
func AppendTableSizeZero(b []byte) []byte { return append(b, tableSizeZero) }

// FieldSize returns the size of a field as the protocol counts it.
func FieldSize(name, value string) int { return len(name) + len(value) + fieldOverhead }

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
