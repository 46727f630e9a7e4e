package detect

import (
	"bytes"
	"testing"
)

func FuzzCppSource(f *testing.F) {
	f.Add([]byte("#include \"a.grpc.pb.h\"\n#if 0\n#else\nbuilder.AddListeningPort(\"0.0.0.0:\" + p, c); p(p + p);\n#endif\nb.BuildAndStart();"))
	f.Add([]byte("// ServerBuilder \\\nR\"x()\" )x\" '\\'' 1'0 u8'a' ServerBuilder b; b->RegisterService(&s); StrFormat(\"%d{}\", x)"))
	f.Add([]byte("DEFINE_int32(port, 5, \"\");b.AddListeningPort(absl::StrFormat(\"%d\", FLAGS_port), c);class A : public B::Service {"))
	f.Fuzz(func(t *testing.T, text []byte) {
		checkSheet(t, cppSource(text), text)
		cppUserverConfig(text)
	})
}

func FuzzCppProgram(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := &allowance{r: bytes.NewReader(text), left: maxProgramBytes}
		if said, err := readProgram(r, readCppProgram); err != nil && said != nil {
			t.Errorf("a program that is left out says %v", said)
		}
	})
}
