// Package classfile reads the class files that compilers of Java, Kotlin and Scala write (Java Virtual Machine
// Specification, chapter 4): the names of a class, what it calls and the constants that it gives to a call. The bytes
// may be anybody's and are not trusted.
//
// Begin with [Parse].
package classfile

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// Class is a class file. It refers to the bytes that it was parsed from. Names have slashes where Java has dots, and
// "$" before the name of an inner class: demo/GreeterGrpc$GreeterImplBase.
type Class struct {
	Name       string
	Super      string // the class that it extends
	Interfaces []string

	pool    []constant
	members reader // the fields, the methods and what follows them
}

// Parse reads a class file up to its interfaces. ok is false if the bytes are no class file or end too early.
func Parse(data []byte) (class *Class, ok bool) {
	r := reader{rest: data}
	if !bytes.Equal(r.take(4), []byte{0xca, 0xfe, 0xba, 0xbe}) {
		return nil, false
	}
	r.take(4) // the version of the format
	c := &Class{}
	if !c.readPool(&r) {
		return nil, false
	}
	r.take(2) // access flags
	c.Name, c.Super = c.className(r.u2()), c.className(r.u2())
	for range r.u2() {
		if r.short {
			break
		}
		c.Interfaces = append(c.Interfaces, c.className(r.u2()))
	}
	c.members = r
	return c, !r.short
}

// Call is a method that a class calls.
type Call struct {
	Class      string
	Method     string // "<init>" for a constructor
	Descriptor string // the types of the parameters and of the result: (I)Lio/grpc/ServerBuilder;
}

// Calls returns the methods that the class refers to, in the order of its constants.
func (c *Class) Calls() []Call {
	var calls []Call
	for _, k := range c.pool {
		if k.isMethod() {
			calls = append(calls, c.call(k))
		}
	}
	return calls
}

func (c *Class) call(method constant) Call {
	member := c.at(method.b, tagNameAndType)
	return Call{c.className(method.a), c.utf8(member.a), c.utf8(member.b)}
}

// HasString reports whether a string literal of the class has this value.
func (c *Class) HasString(value string) bool {
	for _, k := range c.pool {
		if k.tag == tagString && c.utf8(k.a) == value {
			return true
		}
	}
	return false
}

// Texts yields every text among the constants: string literals, and the names and descriptors of classes, members,
// annotations and attributes.
func (c *Class) Texts() iter.Seq[[]byte] {
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

func (r *reader) u4() int { return int(binary.BigEndian.Uint32(r.take(4))) }
