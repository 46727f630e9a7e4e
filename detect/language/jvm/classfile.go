package jvm

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// class is what is read of a class file, as compilers of Java, Kotlin and Scala write it (Java Virtual Machine
// Specification, chapter 4): the names of a class, what it calls and its texts. The bytes may be anybody's. It refers to the bytes that it was parsed from. Names have slashes where Java has dots, and
// "$" before the name of an inner class: demo/GreeterGrpc$GreeterImplBase.
type class struct {
	name       string
	super      string // the class that it extends
	interfaces []string

	pool []constant
}

// parseClass reads a class file up to its interfaces. ok is false if the bytes are no class file or end too early.
func parseClass(data []byte) (c *class, ok bool) {
	r := reader{rest: data}
	if !bytes.Equal(r.take(4), []byte{0xca, 0xfe, 0xba, 0xbe}) {
		return nil, false
	}
	r.take(4) // the version of the format
	c = &class{}
	if !c.readPool(&r) {
		return nil, false
	}
	r.take(2) // access flags
	c.name, c.super = c.className(r.u2()), c.className(r.u2())
	for range r.u2() {
		if r.short {
			break
		}
		c.interfaces = append(c.interfaces, c.className(r.u2()))
	}
	return c, !r.short
}

// call is a method that a class calls.
type call struct {
	class      string
	method     string // "<init>" for a constructor
	descriptor string // the types of the parameters and of the result: (I)Lio/grpc/ServerBuilder;
}

// calls returns the methods that the class refers to, in the order of its constants.
func (c *class) calls() []call {
	var all []call
	for _, k := range c.pool {
		if k.isMethod() {
			all = append(all, c.callOf(k))
		}
	}
	return all
}

func (c *class) callOf(method constant) call {
	member := c.at(method.b, tagNameAndType)
	return call{c.className(method.a), c.utf8(member.a), c.utf8(member.b)}
}

// hasString reports whether a string literal of the class has this value.
func (c *class) hasString(value string) bool {
	for _, k := range c.pool {
		if k.tag == tagString && c.utf8(k.a) == value {
			return true
		}
	}
	return false
}

// texts yields every text among the constants: string literals, and the names and descriptors of classes, members,
// annotations and attributes.
func (c *class) texts() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, k := range c.pool {
			if k.tag == tagUTF8 && !yield(k.text) {
				return
			}
		}
	}
}

// reader reads big-endian numbers and bytes. Behind the end everything is zero, and short is set.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.rest, r.short = nil, true
		return make([]byte, min(n, 8)) // no number is longer
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) u2() int { return int(binary.BigEndian.Uint16(r.take(2))) }

// constant is an entry of the constant pool: a text, or one or two indexes of other entries.
type constant struct {
	tag  byte
	a, b int
	text []byte
}

// The tags of the constants that are read (JVMS, table 4.4-A).
const (
	tagUTF8            = 1
	tagClass           = 7
	tagString          = 8
	tagMethod          = 10
	tagInterfaceMethod = 11
	tagNameAndType     = 12
)

// constantSizes are how many bytes follow each tag. Those of a text begin with its length, and the text follows them.
var constantSizes = map[byte]int{
	tagUTF8: 2, 3: 4, 4: 4, 5: 8, 6: 8, tagClass: 2, tagString: 2, 9: 4, tagMethod: 4, tagInterfaceMethod: 4,
	tagNameAndType: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}

func (k constant) isMethod() bool { return k.tag == tagMethod || k.tag == tagInterfaceMethod }

// readPool reads the constants. It reports whether all of them are of known kinds.
func (c *class) readPool(r *reader) bool {
	count := r.u2()
	c.pool = make([]constant, count)
	for i := 1; i < count; i++ {
		k := constant{tag: r.take(1)[0]}
		size, ok := constantSizes[k.tag]
		if !ok || r.short {
			return false
		}
		operands := r.take(size)
		switch {
		case k.tag == tagUTF8:
			k.text = r.take(int(binary.BigEndian.Uint16(operands)))
		case size == 4:
			k.a, k.b = int(binary.BigEndian.Uint16(operands)), int(binary.BigEndian.Uint16(operands[2:]))
		case size == 2:
			k.a = int(binary.BigEndian.Uint16(operands))
		}
		c.pool[i] = k
		if size == 8 {
			i++ // a long or a double takes two entries
		}
	}
	return true
}

// at returns the constant at an index if it has the tag, and the zero value if not.
func (c *class) at(i int, tag byte) constant {
	if i < len(c.pool) && c.pool[i].tag == tag {
		return c.pool[i]
	}
	return constant{}
}

func (c *class) utf8(i int) string { return string(c.at(i, tagUTF8).text) }

func (c *class) className(i int) string { return c.utf8(c.at(i, tagClass).a) }
