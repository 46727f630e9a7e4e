package http2

import (
	"errors"
	"fmt"
)

// TableSize is the size of the table that a peer may use (RFC 7541 section 4.2), by default.
const TableSize = 4096

// maxFields is the number of fields that fit into the table. Each field counts at least fieldOverhead bytes.
const maxFields = TableSize / fieldOverhead

// fieldOverhead is the size of a field beyond the bytes of the field (RFC 7541 section 4.1, RFC 9113 section 6.5.2).
const fieldOverhead = 32

var errHPACK = errors.New("invalid header block")

// TooLargeError is the error of a header block over the decoder's limit, in bytes.
type TooLargeError struct{ Limit int }

// Error names the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("headers are over the limit of %d bytes", e.Limit)
}

// Decoder decodes header blocks (RFC 7541) in the order of arrival on the connection, whatever the stream is. The
// decoder of golang.org/x/net, which the tests compare, builds a tree of the Huffman code at the first string, with 2
// KB a node: a fourteenth of a probe's CPU time and a tenth of its memory. A Decoder has no memory but its fixed size.
// Without x/net the programs link only the standard library, so a scanner has only one version to look up. The zero
// value cannot be used; see [NewDecoder].
type Decoder struct {
	limit   int // of the size of a decoded block
	maxSize int // of the table, as set by the peer
	// size is the size of all fields in the table. The oldest field is in fields[first]. The bytes of all fields are
	// contiguous in bytes, up to end.
	size, first, count, end int
	fields                  [maxFields]tableField
	bytes                   [TableSize]byte

	// The state of one Decode.
	scratch []byte
	decoded int
	emit    func(name, value []byte) error
}

// tableField is the position of a field in the bytes of the table: first the name, then the value.
type tableField struct{ start, name, value uint16 }

// NewDecoder returns a decoder for blocks that decode to at most limit bytes, as HTTP/2 counts.
func NewDecoder(limit int) *Decoder {
	d := new(Decoder)
	d.Reset(limit)
	return d
}

// Reset prepares the decoder for a new connection.
func (d *Decoder) Reset(limit int) {
	d.limit, d.maxSize = limit, TableSize
	d.size, d.first, d.count, d.end = 0, 0, 0, 0
}

// Decode calls emit for each field of a whole block. The bytes for emit are valid until emit returns. The scratch takes
// decoded strings, and does not grow if its capacity is the limit. After an error, including a *[TooLargeError], the
// connection is unusable, because the state of the compression is lost.
func (d *Decoder) Decode(block, scratch []byte, emit func(name, value []byte) error) error {
	d.scratch, d.decoded, d.emit = scratch, 0, emit
	defer func() { d.scratch, d.emit = nil, nil }()
	for begun := false; len(block) > 0; begun = true {
		if block[0]>>5 == 1 {
			// A size is allowed at the beginning of a block only (section 4.2). As in x/net, an empty table has no
			// rule.
			if begun && d.size > 0 {
				return errHPACK
			}
			size, rest, err := takeInt(block, 5)
			if err != nil || size > TableSize {
				return errHPACK
			}
			d.maxSize, block = size, rest
			d.evict(0)
			continue
		}
		rest, err := d.field(block)
		if err != nil {
			return err
		}
		block = rest
	}
	return nil
}

// field decodes one representation of a field (section 6).
func (d *Decoder) field(b []byte) (rest []byte, err error) {
	prefix, indexed := 4, false // Literal without indexing, or never indexed.
	switch first := b[0]; {
	case first >= 1<<7:
		index, rest, err := takeInt(b, 7)
		if err != nil {
			return nil, err
		}
		name, value, err := d.lookUp(index)
		if err != nil {
			return nil, err
		}
		return rest, d.pass(name, value)
	case first >= 1<<6:
		prefix, indexed = 6, true
	}
	index, b, err := takeInt(b, prefix)
	if err != nil {
		return nil, err
	}
	d.scratch = d.scratch[:0]
	if index > 0 {
		name, _, err := d.lookUp(index)
		if err != nil {
			return nil, err
		}
		d.scratch = append(d.scratch[:0], name...) // add may move the table's own bytes
	} else if b, err = d.takeString(b); err != nil {
		return nil, err
	}
	length := len(d.scratch)
	if b, err = d.takeString(b); err != nil {
		return nil, err
	}
	name, value := d.scratch[:length], d.scratch[length:]
	if indexed {
		d.add(name, value)
	}
	return b, d.pass(name, value)
}

// pass hands over a field, unless the block becomes too large.
func (d *Decoder) pass(name, value []byte) error {
	if d.decoded += len(name) + len(value) + fieldOverhead; d.decoded > d.limit {
		return &TooLargeError{d.limit}
	}
	return d.emit(name, value)
}

// lookUp returns the field with an index. The index counts from 1 in the static table and continues in the dynamic
// table, newest field first (section 2.3.3). The field is valid until the next field is added.
func (d *Decoder) lookUp(index int) (name, value []byte, err error) {
	if index >= 1 && index <= len(staticTable) {
		d.scratch = append(d.scratch[:0], staticTable[index-1].name...)
		length := len(d.scratch)
		d.scratch = append(d.scratch, staticTable[index-1].value...)
		return d.scratch[:length], d.scratch[length:], nil
	}
	if i := d.count - (index - len(staticTable)); index > 0 && i >= 0 {
		f := d.fields[(d.first+i)%maxFields]
		middle := f.start + f.name
		return d.bytes[f.start:middle], d.bytes[middle : middle+f.value], nil
	}
	return nil, nil, errHPACK
}

// add puts a field into the table. A field larger than the table empties the table (section 4.4).
func (d *Decoder) add(name, value []byte) {
	length := len(name) + len(value)
	d.evict(length + fieldOverhead)
	if length+fieldOverhead > d.maxSize {
		return
	}
	if d.end+length > len(d.bytes) {
		d.compact()
	}
	d.fields[(d.first+d.count)%maxFields] = tableField{uint16(d.end), uint16(len(name)), uint16(len(value))}
	d.count++
	d.end += copy(d.bytes[d.end:], name)
	d.end += copy(d.bytes[d.end:], value)
	d.size += length + fieldOverhead
}

// evict removes the oldest fields until room bytes are free.
func (d *Decoder) evict(room int) {
	for d.count > 0 && d.size+room > d.maxSize {
		oldest := d.fields[d.first]
		d.size -= int(oldest.name) + int(oldest.value) + fieldOverhead
		d.first = (d.first + 1) % maxFields
		d.count--
	}
}

// compact moves the fields to the beginning of the bytes.
func (d *Decoder) compact() {
	start := d.end
	if d.count > 0 {
		start = int(d.fields[d.first].start)
	}
	d.end = copy(d.bytes[:], d.bytes[start:d.end])
	for i := range d.count {
		d.fields[(d.first+i)%maxFields].start -= uint16(start)
	}
}

// takeInt decodes an integer with a prefix of the given number of bits in the first byte (section 5.1).
func takeInt(b []byte, prefix int) (n int, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, errHPACK
	}
	limit := 1<<prefix - 1
	if n = int(b[0]) & limit; n < limit {
		return n, b[1:], nil
	}
	// Zero bytes may follow without adding to the number, up to the limit of x/net: seven bits each make 63.
	for i := 1; i < len(b) && i <= 9; i++ {
		part := int(b[i] & 127)
		if part != 0 && i > 4 { // More than 28 bits: nothing valid needs as many.
			return 0, nil, errHPACK
		}
		if i <= 4 {
			n += part << (7 * (i - 1))
		}
		if b[i] < 128 {
			return n, b[i+1:], nil
		}
	}
	return 0, nil, errHPACK
}

// takeString decodes a string literal (section 5.2), and appends the string to the scratch.
func (d *Decoder) takeString(b []byte) (rest []byte, err error) {
	n, rest, err := takeInt(b, 7)
	if err != nil || n > len(rest) {
		return nil, errHPACK
	}
	coded := b[0]&128 != 0
	b, rest = rest[:n], rest[n:]
	switch {
	case coded:
		d.scratch, err = appendHuffman(d.scratch, b, d.limit)
	case len(d.scratch)+len(b) <= d.limit:
		d.scratch = append(d.scratch, b...)
	default:
		err = &TooLargeError{d.limit}
	}
	return rest, err
}
