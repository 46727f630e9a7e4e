package lean

import "errors"

var errHPACK = errors.New("invalid header block")

// headerDecoder decodes header blocks (RFC 7541) in the order in which they came on the connection, whatever their
// stream is. It is used in place of that of golang.org/x/net, which builds a tree of the Huffman code, with 2 KB a
// node, at the first string: that took a fourteenth of a probe's CPU time and a tenth of its memory. Without x/net the
// probe also links nothing but the standard library, so a scanner has only one version to look up. The tests compare
// this decoder with that of x/net.
type headerDecoder struct {
	headers []header // of the block
	size    int      // of all of them, as the protocol counts
	// dynamic are the fields that the server refers back to, the newest last; tableSize is what they count for.
	dynamic            []header
	tableSize, maxSize int
}

func newHeaderDecoder() *headerDecoder { return &headerDecoder{maxSize: headerTableSize} }

// counts returns the size of a field as the protocol counts it (RFC 7541 section 4.1 and RFC 9113 section 6.5.2).
func (h header) counts() int { return len(h.name) + len(h.value) + 32 }

// decode returns the headers of a whole block, which are valid until the next call. After an error the connection
// cannot be used, because the state of the compression is lost.
func (d *headerDecoder) decode(block []byte) ([]header, error) {
	d.headers, d.size = d.headers[:0], 0
	for len(block) > 0 {
		rest, err := d.field(block)
		if err != nil {
			return nil, err
		}
		if d.size > maxHeaderBytes {
			return nil, errHeadersTooLarge
		}
		block = rest
	}
	return d.headers, nil
}

// field decodes one representation of a field (section 6).
func (d *headerDecoder) field(b []byte) (rest []byte, err error) {
	prefix, indexed := 4, false // Literal without indexing, or never indexed.
	switch first := b[0]; {
	case first >= 1<<7:
		return d.indexed(b)
	case first >= 1<<6:
		prefix, indexed = 6, true
	case first >= 1<<5:
		return d.resize(b)
	}
	index, b, err := takeInt(b, prefix)
	if err != nil {
		return nil, err
	}
	var h header
	if index > 0 {
		if h, err = d.lookUp(index); err != nil {
			return nil, err
		}
	} else if h.name, b, err = takeString(b); err != nil {
		return nil, err
	}
	if h.value, b, err = takeString(b); err != nil {
		return nil, err
	}
	if indexed {
		d.add(h)
	}
	d.emit(h)
	return b, nil
}

func (d *headerDecoder) emit(h header) {
	d.headers = append(d.headers, h)
	d.size += h.counts()
}

func (d *headerDecoder) indexed(b []byte) (rest []byte, err error) {
	index, rest, err := takeInt(b, 7)
	if err != nil {
		return nil, err
	}
	h, err := d.lookUp(index)
	d.emit(h)
	return rest, err
}

// resize changes the size of the table (section 6.3).
func (d *headerDecoder) resize(b []byte) (rest []byte, err error) {
	if len(d.headers) > 0 { // Allowed at the beginning of a block only (section 4.2).
		return nil, errHPACK
	}
	size, rest, err := takeInt(b, 5)
	if err != nil || size > headerTableSize {
		return nil, errHPACK
	}
	d.maxSize = size
	d.evict()
	return rest, nil
}

// lookUp returns the field with an index, which counts from 1 in the static table and goes on in the dynamic one, whose
// newest field comes first (section 2.3.3).
func (d *headerDecoder) lookUp(index int) (header, error) {
	if index >= 1 && index <= len(staticTable) {
		return staticTable[index-1], nil
	}
	if i := len(d.dynamic) - (index - len(staticTable)); index > 0 && i >= 0 {
		return d.dynamic[i], nil
	}
	return header{}, errHPACK
}

func (d *headerDecoder) add(h header) {
	d.dynamic = append(d.dynamic, h)
	d.tableSize += h.counts()
	d.evict()
}

// evict removes the oldest fields until the others fit into the table.
func (d *headerDecoder) evict() {
	n := 0
	for d.tableSize > d.maxSize {
		d.tableSize -= d.dynamic[n].counts()
		n++
	}
	d.dynamic = d.dynamic[n:]
}

// takeInt decodes an integer, of which the first byte has a prefix of the given number of bits (section 5.1).
func takeInt(b []byte, prefix int) (n int, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, errHPACK
	}
	limit := 1<<prefix - 1
	if n = int(b[0]) & limit; n < limit {
		return n, b[1:], nil
	}
	for i := 1; i < len(b) && i <= 4; i++ { // Four bytes more make 28 bits: nothing valid needs as many.
		n += int(b[i]&127) << (7 * (i - 1))
		if b[i] < 128 {
			return n, b[i+1:], nil
		}
	}
	return 0, nil, errHPACK
}

// takeString decodes a string literal (section 5.2).
func takeString(b []byte) (s string, rest []byte, err error) {
	n, rest, err := takeInt(b, 7)
	if err != nil || n > len(rest) {
		return "", nil, errHPACK
	}
	coded := b[0]&128 != 0
	b, rest = rest[:n], rest[n:]
	if !coded {
		return string(b), rest, nil
	}
	if b, err = appendHuffman(nil, b); err != nil {
		return "", nil, err
	}
	return string(b), rest, nil
}
