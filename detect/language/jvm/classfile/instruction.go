package classfile

// The instructions that are told apart (JVMS 6.5).
const (
	opBipush       = 0x10
	opSipush       = 0x11
	opLdc          = 0x12
	opLdcWide      = 0x13
	opIinc         = 0x84
	opGoto         = 0xa7
	opTableSwitch  = 0xaa
	opLookupSwitch = 0xab
	opInvokeStatic = 0xb8
	opWide         = 0xc4
)

// instructionLengths are the lengths in bytes, with operands, of the instructions that have more than one byte. A row
// holds for the opcodes from first to last.
var instructionLengths = []struct {
	first, last byte
	length      int
}{
	{opBipush, opBipush, 2},
	{opSipush, opSipush, 3},
	{opLdc, opLdc, 2},
	{opLdcWide, 0x14, 3},
	{0x15, 0x19, 2},
	{0x36, 0x3a, 2},
	{opIinc, opIinc, 3},
	{0x99, 0xa8, 3},
	{0xa9, 0xa9, 2},
	{0xb2, opInvokeStatic, 3},
	{0xb9, 0xba, 5},
	{0xbb, 0xbb, 3},
	{0xbc, 0xbc, 2},
	{0xbd, 0xbd, 3},
	{0xc0, 0xc1, 3},
	{0xc5, 0xc5, 4},
	{0xc6, 0xc7, 3},
	{0xc8, 0xc9, 5},
}

// instructionLength returns the length of the instruction at an offset. It is 0 if the code ends before the operands
// do.
func instructionLength(code []byte, at int) int {
	switch op := code[at]; op {
	case opWide:
		if at+1 < len(code) && code[at+1] == opIinc {
			return 6
		}
		return 4
	case opTableSwitch, opLookupSwitch:
		return switchLength(code, at)
	default:
		for _, row := range instructionLengths {
			if row.first <= op && op <= row.last {
				return row.length
			}
		}
		return 1
	}
}

// switchLength returns the length of a tableswitch or a lookupswitch. The operands begin at a multiple of four bytes: a
// default, then the bounds of the table or the length of the list.
func switchLength(code []byte, at int) int {
	operands := at/4*4 + 4
	r := reader{rest: code[min(operands, len(code)):]}
	r.take(4)
	n := operands - at
	if code[at] == opTableSwitch {
		low, high := int32(r.u4()), int32(r.u4())
		n += 12 + 4*(int(high)-int(low)+1)
	} else {
		n += 8 + 8*r.u4()
	}
	if r.short {
		return 0
	}
	return n
}
