package classfile

import "encoding/binary"

// IntArguments returns the last argument of each call of a static method that wanted chooses, if the instruction right
// before the call pushes it: compilers write a literal and a constant so. It is 0 if something else stands there, or
// what is pushed in one branch of a condition only.
func (c *Class) IntArguments(wanted func(Call) bool) []int {
	methods := map[int]bool{}
	for i, k := range c.pool {
		if k.isMethod() && wanted(c.call(k)) {
			methods[i] = true
		}
	}
	if len(methods) == 0 {
		return nil
	}
	var arguments []int
	c.eachCode(func(code []byte) {
		arguments = append(arguments, c.argumentsIn(code, methods)...)
	})
	return arguments
}

// HasMethod reports whether the class has a method with this name that takes arguments as a program does: an array of
// strings, or nothing (JLS 12.1).
func (c *Class) HasMethod(name string) bool {
	found := false
	c.eachMember(func(member, descriptor int, _ reader) {
		d := c.utf8(descriptor)
		found = found || c.utf8(member) == name && (d == "([Ljava/lang/String;)V" || d == "()V")
	})
	return found
}

// eachCode calls use with the instructions of each method (JVMS 4.7.3).
func (c *Class) eachCode(use func(code []byte)) {
	c.eachMember(func(_, _ int, code reader) {
		if !code.short {
			code.take(4) // the sizes of the stack and of the local variables
			use(code.take(code.u4()))
		}
	})
}

// eachMember calls use with each field and each method (JVMS 4.5 to 4.7.3): the indexes of its name and its descriptor
// among the constants, and its attribute Code, which is short if it has none.
func (c *Class) eachMember(use func(name, descriptor int, code reader)) {
	members := c.members
	for range 2 { // fields, then methods
		for range members.u2() {
			members.take(2) // access flags
			name, descriptor, code := members.u2(), members.u2(), reader{short: true}
			for range members.u2() {
				attribute, info := members.u2(), members.take(members.u4())
				if members.short {
					return
				}
				if c.utf8(attribute) == "Code" {
					code = reader{rest: info}
				}
			}
			if members.short {
				return
			}
			use(name, descriptor, code)
		}
	}
}

// argumentsIn returns the last arguments of the calls of the methods, given by their indexes in the constant pool, in
// the instructions of one method.
func (c *Class) argumentsIn(code []byte, methods map[int]bool) []int {
	var arguments []int
	var last, before []byte
	for at := 0; at < len(code); {
		n := instructionLength(code, at)
		if n <= 0 || n > len(code)-at {
			return arguments
		}
		instruction := code[at : at+n]
		if instruction[0] == opInvokeStatic && methods[int(binary.BigEndian.Uint16(instruction[1:]))] {
			argument := 0
			if len(before) == 0 || before[0] != opGoto {
				argument = c.pushed(last)
			}
			arguments = append(arguments, argument)
		}
		before, last = last, instruction
		at += n
	}
	return arguments
}

// pushed returns what an instruction pushes.
func (c *Class) pushed(instruction []byte) int {
	index := 0
	switch {
	case len(instruction) == 2 && instruction[0] == opBipush:
		return int(int8(instruction[1]))
	case len(instruction) == 3 && instruction[0] == opSipush:
		return int(int16(binary.BigEndian.Uint16(instruction[1:])))
	case len(instruction) == 3 && instruction[0] == opLdcWide:
		index = int(binary.BigEndian.Uint16(instruction[1:]))
	case len(instruction) == 2 && instruction[0] == opLdc:
		index = int(instruction[1])
	}
	k := c.at(index, tagInteger)
	return int(int32(k.a<<16 | k.b))
}
