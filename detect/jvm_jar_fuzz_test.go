package detect

import (
	"archive/zip"
	"bytes"
	"testing"
)

func FuzzJVMClass(f *testing.F) {
	c := &classFile{}
	c.calls("io/grpc/ServerBuilder", "forPort", "(I)Lio/grpc/ServerBuilder;")
	f.Add(c.bytes("demo/Server", "demo/GreeterGrpc$GreeterImplBase"))
	f.Add(append(c.bytes("demo/Server", "java/lang/Object"), "Code\x00\x00\x00\x11\x11\x1f\x90\xb8\x00\x08\xaa\xab\xc4"...))
	f.Fuzz(func(t *testing.T, text []byte) {
		checkSheet(t, withoutLines(jvmClassSheet(text)), text)
		for at := range text[:min(len(text), 1000)] {
			_ = jvmLength(text, at)
		}
		(&jvmClass{}).pushed(text, map[int]bool{8: true})
	})
}

func FuzzJVMJar(f *testing.F) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for name, text := range map[string]string{
		"META-INF/MANIFEST.MF": "Main-Class: demo.Ser\r\n ver\r\n\r\n", "application.yml": "grpc:\n  port: 1\n", "lib/a-1.jar": "",
		"demo/Server.class": string((&classFile{}).bytes("demo/Server", "demo/GreeterGrpc$GreeterImplBase")),
	} {
		entry, err := w.Create(name)
		if err != nil {
			f.Fatal(err)
		}
		_, _ = entry.Write([]byte(text))
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add("app.jar", packed.Bytes())
	f.Add("lib/app-1.jar", packed.Bytes()[packed.Len()-22:])
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		said, _ := jvmReadJar(path, bytes.NewReader(text), int64(len(text)))
		checkSheet(t, withoutLines(said), text)
	})
}

// withoutLines takes the texts from signs whose line is the whole file: in what is built there are no lines.
func withoutLines(said *sheet) *sheet {
	if said == nil {
		return nil
	}
	for i := range said.signs {
		if said.signs[i].line == 0 {
			said.signs[i].what = ""
		}
	}
	return said
}
