package classfile

import (
	"slices"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/language/jvm/classfile/classfiletest"
)

// FuzzClass reads any bytes as a class file, and as the instructions of a method.
func FuzzClass(f *testing.F) {
	b := &classfiletest.Builder{}
	b.Call("io/grpc/ServerBuilder", "forPort", "(I)Lio/grpc/ServerBuilder;")
	f.Add(b.Bytes("demo/Server", "demo/GreeterGrpc$GreeterImplBase"))
	code := "Code\x00\x00\x00\x11\x11\x1f\x90\xb8\x00\x08\xaa\xab\xc4"
	f.Add(append(b.Bytes("demo/Server", "java/lang/Object"), code...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, ok := Parse(data); ok {
			c.Calls()
			c.HasString("")
			c.IntArguments(func(Call) bool { return true })
		}
		for at := range data[:min(len(data), 1000)] {
			_ = instructionLength(data, at)
		}
		(&Class{}).argumentsIn(data, map[int]bool{8: true})
	})
}

// The lengths of instructions are those of JVMS 6.5, each with as many digits in a row as opcodes. Those of 0, wide and
// the switches, depend on what follows.
func TestInstructionsHaveTheLengthsOfTheSpecification(t *testing.T) {
	t.Parallel()
	const lengths = "1111111111111111" + "2323322222111111" + "1111111111111111" + "1111112222211111" +
		"1111111111111111" + "1111111111111111" + "1111111111111111" + "1111111111111111" +
		"1111311111111111" + "1111111113333333" + "3333333332001111" + "1133333335532311" + "3311043355"
	for op, want := range []byte(lengths) {
		if got := instructionLength([]byte{byte(op)}, 0); want != '0' && got != int(want-'0') {
			t.Errorf("the instruction %#x has %d bytes, want %c", op, got, want)
		}
	}
	const padding, low, high = "\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff", "\x00\x00\x00\x01"
	const pairs = "\x00\x00\x00\x02"
	for code, want := range map[string]int{
		"\xc4\x15\x01\x00": 4, "\xc4\x84\x01\x00\x00\x01": 6,
		"\xaa" + padding + "\x00" + low + high: 1 + 3 + 12 + 4*3, "\xab" + padding + "\x00" + pairs: 1 + 3 + 8 + 2*8,
		"\xaa" + padding: 0, "\xab" + padding: 0,
	} {
		if got := instructionLength([]byte(code), 0); got != want {
			t.Errorf("the instruction %x has %d bytes, want %d", code, got, want)
		}
	}
}

// The argument of a call is what the instruction before it pushes, however large that is.
func TestArgumentsOfCalls(t *testing.T) {
	t.Parallel()
	c := &Class{pool: make([]constant, 0x102)}
	c.pool[1], c.pool[0x101] = constant{tag: tagInteger, b: 50051}, constant{tag: tagInteger, a: 1, b: 2}
	c.pool[2] = constant{tag: tagString, a: 1}
	const call = "\xb8\x00\x08"
	for code, want := range map[string][]int{
		"\x10\x50" + call:                         {80},
		"\x10\xff" + call:                         {-1},
		"\x11\x1f\x90" + call:                     {8080},
		"\x12\x01" + call:                         {50051},
		"\x13\x01\x01" + call:                     {1<<16 + 2},
		"\x12\x02" + call:                         {0}, // a string
		"\x12\xff" + call:                         {0},
		call:                                      {0},
		"\x11\x1f\x90\x00" + call:                 {0},
		"\xa7\x00\x05\x11\x1f\x90" + call:         {0}, // one branch of a condition
		"\x10\x50" + call + "\x11\x1f\x90" + call: {80, 8080},
		"\x11\x1f\x90\xb8\x00\x09":                nil,
		"\x11\x1f\x90\xb8\x00":                    nil,
	} {
		if got := c.argumentsIn([]byte(code), map[int]bool{8: true}); !slices.Equal(got, want) {
			t.Errorf("the calls in %x have the arguments %d, want %d", code, got, want)
		}
	}
}
