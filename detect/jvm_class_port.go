package detect

import (
	"encoding/binary"
	"slices"
	"strings"
)

// jvmIntegerRef is the tag of an int among the constants.
const jvmIntegerRef = 3

// The instructions that are told apart (Java Virtual Machine Specification, 6.5).
const (
	jvmSipush       = 0x11
	jvmLdc          = 0x12
	jvmLdcWide      = 0x13
	jvmIinc         = 0x84
	jvmGoto         = 0xa7
	jvmTableSwitch  = 0xaa
	jvmLookupSwitch = 0xab
	jvmInvokeStatic = 0xb8
	jvmWide         = 0xc4
)

// ports returns where the class makes servers listen: the number that is pushed right before the call, as compilers write a
// literal and a constant; noPort where there is something else. Members are what comes after the interfaces.
func (c *jvmClass) ports(members *jvmCut) []sign {
	listening := map[int]bool{}
	for i, constant := range c.pool {
		if constant.tag == jvmMethodRef || constant.tag == jvmInterfaceMethod {
			call := c.call(constant)
			listening[i] = strings.HasSuffix(call.method, "orPort") && jvmCalled[call.class+"."+call.method].kind == constructs
		}
	}
	var found []sign
	c.eachCode(members, func(code []byte) {
		for _, port := range c.pushed(code, listening) {
			if s := (sign{kind: listens, port: port}); !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	})
	return found
}

// eachCode hands over the instructions of each method (JVMS 4.5 to 4.7.3).
func (c *jvmClass) eachCode(members *jvmCut, use func(code []byte)) {
	for range 2 { // fields, then methods
		for range members.u2() {
			members.take(6) // access flags, name, descriptor
			for range members.u2() {
				name, info := members.u2(), &jvmCut{}
				info.rest = members.take(members.u4())
				if members.short {
					return
				}
				if string(c.at(name, jvmUTF8).text) == "Code" {
					info.take(4) // the sizes of its stack and of its variables
					use(info.take(info.u4()))
				}
			}
		}
	}
}

// pushed returns the ports that are pushed right before a call of one of the methods. One that is there for a condition
// alone is not known.
func (c *jvmClass) pushed(code []byte, methods map[int]bool) []int {
	var ports []int
	var last, before []byte
	for at := 0; at < len(code); {
		n := jvmLength(code, at)
		if n <= 0 || n > len(code)-at {
			return ports
		}
		instruction := code[at : at+n]
		if instruction[0] == jvmInvokeStatic && methods[int(binary.BigEndian.Uint16(instruction[1:]))] {
			port := noPort
			if len(before) == 0 || before[0] != jvmGoto {
				port = c.number(last)
			}
			ports = append(ports, port)
		}
		before, last = last, instruction
		at += n
	}
	return ports
}

// number returns the port that an instruction pushes.
func (c *jvmClass) number(instruction []byte) int {
	number, constant := 0, jvmConstant{}
	switch {
	case len(instruction) == 3 && instruction[0] == jvmSipush:
		number = int(binary.BigEndian.Uint16(instruction[1:]))
	case len(instruction) == 3 && instruction[0] == jvmLdcWide:
		constant = c.at(int(binary.BigEndian.Uint16(instruction[1:])), jvmIntegerRef)
	case len(instruction) == 2 && instruction[0] == jvmLdc:
		constant = c.at(int(instruction[1]), jvmIntegerRef)
	}
	if number |= constant.a<<16 | constant.b; number > 0 && number < 1<<16 {
		return number
	}
	return noPort
}

// jvmLengths are the lengths of instructions, with their operands, that are not one byte: from the first to the last of a
// range of opcodes.
var jvmLengths = []struct {
	first, last byte
	length      int
}{
	{0x10, 0x10, 2}, {jvmSipush, jvmSipush, 3}, {jvmLdc, jvmLdc, 2}, {jvmLdcWide, 0x14, 3}, {0x15, 0x19, 2}, {0x36, 0x3a, 2},
	{jvmIinc, jvmIinc, 3}, {0x99, 0xa8, 3}, {0xa9, 0xa9, 2}, {0xb2, jvmInvokeStatic, 3}, {0xb9, 0xba, 5}, {0xbb, 0xbb, 3},
	{0xbc, 0xbc, 2}, {0xbd, 0xbd, 3}, {0xc0, 0xc1, 3}, {0xc5, 0xc5, 4}, {0xc6, 0xc7, 3}, {0xc8, 0xc9, 5},
}

// jvmLength returns the length of the instruction at a place; 0 where its operands are missing.
func jvmLength(code []byte, at int) int {
	switch op := code[at]; op {
	case jvmWide:
		if at+1 < len(code) && code[at+1] == jvmIinc {
			return 6
		}
		return 4
	case jvmTableSwitch, jvmLookupSwitch:
		return jvmSwitchLength(code, at)
	default:
		for _, l := range jvmLengths {
			if l.first <= op && op <= l.last {
				return l.length
			}
		}
		return 1
	}
}

// jvmSwitchLength is that of an instruction whose operands begin at a multiple of four bytes: a default, then the bounds of
// a table or the length of a list.
func jvmSwitchLength(code []byte, at int) int {
	operands := at/4*4 + 4
	cut := &jvmCut{rest: code[min(operands, len(code)):]}
	cut.take(4)
	n := operands - at
	if code[at] == jvmTableSwitch {
		low, high := int32(cut.u4()), int32(cut.u4())
		n += 12 + 4*(int(high)-int(low)+1)
	} else {
		n += 8 + 8*cut.u4()
	}
	if cut.short {
		return 0
	}
	return n
}
