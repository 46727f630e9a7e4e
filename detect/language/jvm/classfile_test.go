package jvm

import (
	"encoding/binary"
	"slices"
)

// The tags of constants (JVMS, table 4.4-A).
const (
	tagUTF8        = 1
	tagLong        = 5
	tagDouble      = 6
	tagClass       = 7
	tagString      = 8
	tagMethod      = 10
	tagNameAndType = 12
)

// classBuilder collects the constants of one class. The zero value is ready for use.
type classBuilder struct {
	pool    []byte
	count   uint16
	methods []uint16 // the name and the descriptor of each
	name    string   // of the class
}

func (b *classBuilder) add(constant ...byte) uint16 {
	b.pool = append(b.pool, constant...)
	b.count++
	return b.count
}

// Text adds a text, such as the descriptor of an annotation, and returns its index.
func (b *classBuilder) Text(s string) uint16 {
	return b.add(append(binary.BigEndian.AppendUint16([]byte{tagUTF8}, uint16(len(s))), s...)...)
}

// String adds a string literal.
func (b *classBuilder) String(s string) {
	b.add(binary.BigEndian.AppendUint16([]byte{tagString}, b.Text(s))...)
}

// LongAndDouble adds a long and a double, which take two places each.
func (b *classBuilder) LongAndDouble() {
	for _, tag := range []byte{tagLong, tagDouble} {
		b.add(tag, 0, 0, 0, 0, 0, 0, 0, 0)
		b.count++
	}
}

// Call adds a method that the class calls.
func (b *classBuilder) Call(owner, name, descriptor string) {
	member := b.pair(tagNameAndType, b.Text(name), b.Text(descriptor))
	b.pair(tagMethod, b.class(owner), member)
}

// Method adds a method of the class, without code.
func (b *classBuilder) Method(name, descriptor string) {
	b.methods = append(b.methods, b.Text(name), b.Text(descriptor))
}

// Bytes returns the class file. The class has no fields and no attributes.
func (b *classBuilder) Bytes(name, super string, interfaces ...string) []byte {
	b.name = name
	head := []uint16{0x21, b.class(name), b.class(super), uint16(len(interfaces))}
	for _, i := range interfaces {
		head = append(head, b.class(i))
	}
	data := binary.BigEndian.AppendUint16([]byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52}, b.count+1)
	data = append(data, b.pool...)
	head = append(head, 0, uint16(len(b.methods)/2))
	for m := range slices.Chunk(b.methods, 2) {
		head = append(head, 0, m[0], m[1], 0)
	}
	for _, n := range append(head, 0) {
		data = binary.BigEndian.AppendUint16(data, n)
	}
	return data
}

func (b *classBuilder) class(name string) uint16 {
	return b.add(binary.BigEndian.AppendUint16([]byte{tagClass}, b.Text(name))...)
}

func (b *classBuilder) pair(tag byte, first, second uint16) uint16 {
	return b.add(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{tag}, first), second)...)
}
