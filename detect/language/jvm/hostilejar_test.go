package jvm

import (
	"archive/zip"
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

// Damaged and hostile jars are left out, and the other files of the tree are still read.
func TestHostileJarsAreLeftOut(t *testing.T) {
	t.Parallel()
	whole := testJar{classes: server + libraries}.pack(t, javaClasses(t))
	// The end of an archive that says it has 2^40 entries, and where that is written (APPNOTE.TXT 4.3.14 to 4.3.16).
	many := "PK\x06\x06" + strings.Repeat("\x00", 33) + "\x01" + strings.Repeat("\x00", 18) +
		"PK\x06\x07" + strings.Repeat("\x00", 12) + "\x01\x00\x00\x00" +
		"PK\x05\x06\x00\x00\x00\x00" + strings.Repeat("\xff", 12) + "\x00\x00"
	dir := t.TempDir()
	for name, data := range map[string]string{
		"empty.jar":   "",
		"magic.jar":   whole[:4],
		"half.jar":    whole[:len(whole)/2],
		"most.jar":    whole[:len(whole)-30],
		"end.jar":     whole[len(whole)-22:],
		"many.jar":    many,
		"bomb.jar":    bomb(t),
		"short.class": "\xca\xfe\xba\xbe\x00\x00\x00\x34\xff\xffgrpc",
		"pool.class":  "\xca\xfe\xba\xbe\x00\x00\x00\x34\x00\x02\x01\xff\xffgrpc",
	} {
		write(t, filepath.Join(dir, name), data)
	}
	if services := analyzertest.Scan(t, Analyzer, dir); len(services) != 0 {
		t.Errorf("found %v", services)
	}
}

// bomb returns a jar of 300 KB that has 300 MB when it is unpacked. It has one compressed entry under many names.
func bomb(t *testing.T) string {
	t.Helper()
	small := pack(t, map[string]string{"a.class": strings.Repeat("\x00", 1<<20)})
	one, err := zip.NewReader(strings.NewReader(small), int64(len(small)))
	must(t, err)
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for i := range 300 {
		entry := *one.File[0]
		entry.Name = strings.Repeat("a", i+1) + ".class"
		must(t, w.Copy(&entry))
	}
	must(t, w.Close())
	return packed.String()
}

func FuzzJar(f *testing.F) {
	class := (&classBuilder{}).Bytes("demo/Server", "demo/GreeterGrpc$GreeterImplBase")
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for name, text := range map[string]string{
		"META-INF/MANIFEST.MF": "Main-Class: demo.Ser\r\n ver\r\n\r\n",
		"application.yml":      "grpc:\n  port: 1\n",
		"lib/a-1.jar":          "",
		"demo/Server.class":    string(class),
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
	f.Fuzz(func(t *testing.T, path string, data []byte) {
		result, _ := analyzeArchive(path, bytes.NewReader(data), int64(len(data)))
		checkBuilt(t, result)
	})
}
