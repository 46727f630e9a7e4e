package classfile

import "encoding/binary"

// constant is an entry of the constant pool: a text, an int or one or two indexes of other entries.
type constant struct {
	tag  byte
	a, b int // of an int, the upper and the lower half
	text []byte
}

// The tags of the constants that are read (JVMS, table 4.4-A).
const (
	tagUTF8            = 1
	tagInteger         = 3
	tagClass           = 7
	tagString          = 8
	tagMethod          = 10
	tagInterfaceMethod = 11
	tagNameAndType     = 12
)

// constantSizes are how many bytes follow each tag. Those of a text begin with its length, and the text follows them.
var constantSizes = map[byte]int{
	tagUTF8: 2, tagInteger: 4, 4: 4, 5: 8, 6: 8, tagClass: 2, tagString: 2, 9: 4, tagMethod: 4, tagInterfaceMethod: 4,
	tagNameAndType: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}

func (k constant) isMethod() bool { return k.tag == tagMethod || k.tag == tagInterfaceMethod }

// readPool reads the constants. It reports whether all of them are of known kinds.
func (c *Class) readPool(r *reader) bool {
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
func (c *Class) at(i int, tag byte) constant {
	if i < len(c.pool) && c.pool[i].tag == tag {
		return c.pool[i]
	}
	return constant{}
}

func (c *Class) utf8(i int) string { return string(c.at(i, tagUTF8).text) }

func (c *Class) className(i int) string { return c.utf8(c.at(i, tagClass).a) }
