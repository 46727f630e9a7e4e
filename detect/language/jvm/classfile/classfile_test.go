package classfile

import (
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
