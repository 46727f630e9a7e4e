package jvm

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// A class file that javac writes gives the same service as its source.
func TestClassFilesOfJavac(t *testing.T) {
	t.Parallel()
	classes := javaClasses(t)
	at := func(port int) string { return fmt.Sprintf("; port %d by default", port) }
	for name, want := range map[string]string{
		"com/acme/shop/Server":         "grpc-java (app.class); health service not registered; port not known",
		"com/acme/shop/Netty":          "grpc-java (app.class); health service not registered; port not known",
		"com/acme/shop/Credentials":    "grpc-java (app.class); health service not registered; port not known",
		"com/acme/shop/HealthyServer":  "grpc-java (app.class); health service registered (app.class); port not known",
		"com/acme/shop/SpringGreeter":  "Spring gRPC (app.class); health service not registered" + at(9090),
		"com/acme/shop/DevhGreeter":    "net.devh (app.class); health service registered by net.devh" + at(9090),
		"com/acme/shop/QuarkusGreeter": "Quarkus (app.class); health service registered by Quarkus" + at(9000),

		"com/acme/shop/Greeter":                  "",
		"com/acme/shop/OwnHealth":                "",
		"com/acme/shop/Client":                   "",
		"com/acme/shop/InProcess":                "",
		"com/acme/shop/ServerTest":               "",
		"demo/GreeterGrpc":                       "",
		"demo/GreeterGrpc$GreeterImplBase":       "",
		"demo/GreeterGrpc$AbstractGreeter":       "",
		"demo/GreeterBean":                       "",
		"demo/MutinyGreeterGrpc$GreeterImplBase": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := name + ".class"
			checkServices(t, file, classes[file], strings.ReplaceAll(want, "app.class", file))
		})
	}
}

// checkServices checks the services of an app that has one file. want is "" for no service, and else without "Java, "
// and without the security, which a built program does not tell.
func checkServices(t *testing.T, path, data, want string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, path), data)
	if want != "" {
		want = "Java, " + want + "; TLS or plaintext not known\n"
	}
	if got := analyzertest.Describe(analyzertest.Scan(t, Analyzer, dir)); got != want {
		t.Errorf("found:\n%swant:\n%s", got, want)
	}
}

// javaClasses returns the class files of testdata/classes.txtar by their paths.
func javaClasses(t *testing.T) map[string]string {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("compiling Java takes a JDK: ", err)
	}
	classes, err := compileClasses()
	must(t, err)
	return classes
}

// compileClasses compiles the archive once for all tests, because javac takes two seconds to start.
var compileClasses = sync.OnceValues(func() (map[string]string, error) {
	archive, err := txtar.ParseFile("testdata/classes.txtar")
	if err != nil {
		return nil, err
	}
	sources, err := txtar.FS(archive)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "classes")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	from, to := filepath.Join(dir, "sources"), filepath.Join(dir, "classes")
	if err := os.CopyFS(from, sources); err != nil {
		return nil, err
	}
	args := []string{"-nowarn", "-proc:none", "-J-XX:TieredStopAtLevel=1", "-d", to}
	for _, f := range archive.Files {
		args = append(args, filepath.Join(from, f.Name))
	}
	if output, err := exec.Command("javac", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("running javac: %w\n%s", err, output)
	}
	return readFiles(os.DirFS(to))
})

func readFiles(dir fs.FS) (map[string]string, error) {
	files := map[string]string{}
	return files, fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, path)
		files[path] = string(data)
		return err
	})
}

func write(t *testing.T, path, data string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(data), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// classTest is a class file, and what it proves.
type classTest struct {
	make      func(b *classBuilder) []byte
	proves    finding.Finding // the type of what it proves, nil if the class proves nothing
	framework string
	language  string
}

func TestClassFilesOfOtherCompilers(t *testing.T) {
	t.Parallel()
	tests := maps.Clone(plainClasses)
	maps.Copy(tests, frameworkClasses)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &classBuilder{}
			data := test.make(b)
			result := analyzeClass(data, b.name+".class", "")
			if result == nil {
				if test.proves != nil {
					t.Error("nothing was found")
				}
				return
			}
			if test.proves == nil {
				t.Fatalf("found %v", result.Findings)
			}
			f, language := result.Findings[0], result.Language
			framework := inLanguage(finding.FrameworkOf(f), language)
			if reflect.TypeOf(f) != reflect.TypeOf(test.proves) || framework != test.framework ||
				language != test.language {
				t.Errorf("found %+v, in %q", f, language)
			}
		})
	}
}

// A server is one of a program if its class has a method that Java starts (JLS 12.1).
func TestServersOfClassesWithMain(t *testing.T) {
	t.Parallel()
	for method, want := range map[[2]string]bool{
		{"main", "([Ljava/lang/String;)V"}: true, {"main", "(I)V"}: false, {"run", "()V"}: false,
	} {
		b := &classBuilder{}
		b.Call("io/grpc/ServerBuilder", "forPort", "(I)Lio/grpc/ServerBuilder;")
		b.Method(method[0], method[1])
		b.Method("stop", "()V")
		result := analyzeClass(b.Bytes("demo/Server", object), "demo/Server.class", "")
		if s, ok := result.Findings[0].(finding.Server); !ok || s.InMain != want {
			t.Errorf("beside the method %s%s: %+v", method[0], method[1], result.Findings[0])
		}
	}
}

func FuzzClass(f *testing.F) {
	b := &classBuilder{}
	b.Call("io/grpc/ServerBuilder", "forPort", "(I)Lio/grpc/ServerBuilder;")
	f.Add(b.Bytes("demo/Server", "demo/GreeterGrpc$GreeterImplBase"))
	code := "Code\x00\x00\x00\x11\x11\x1f\x90\xb8\x00\x08\xaa\xab\xc4"
	f.Add(append(b.Bytes("demo/Server", "java/lang/Object"), code...))
	f.Fuzz(func(t *testing.T, data []byte) { checkBuilt(t, analyzeClass(data, "demo/Server.class", "")) })
}
