package detect_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// jvmLibrariesOfTests are what a jar holds that an app and all it needs are packed into.
const jvmLibrariesOfTests = "io/ org/springframework/ net/"

// The classes are compiled for real.
func TestClassFilesGiveTheirServices(t *testing.T) {
	t.Parallel()
	classes := javaClasses(t)
	for name, want := range map[string]string{
		"com/acme/shop/Server":                   "Java, grpc-java (app.class); health service not registered; port 50051\n",
		"com/acme/shop/Netty":                    "Java, grpc-java (app.class); health service not registered; port 50051\n",
		"com/acme/shop/Credentials":              "Java, grpc-java (app.class); health service not registered\n",
		"com/acme/shop/Greeter":                  "Java, grpc-java (app.class); health service not registered\n",
		"com/acme/shop/HealthyServer":            "Java, grpc-java (app.class); health service registered (app.class); port 50051\n",
		"com/acme/shop/SpringGreeter":            "Java, Spring gRPC (app.class); health service registered by Spring gRPC; port 9090\n",
		"com/acme/shop/DevhGreeter":              "Java, net.devh (app.class); health service registered by net.devh; port 9090\n",
		"com/acme/shop/QuarkusGreeter":           "Java, Quarkus (app.class); health service registered by Quarkus; port 9000\n",
		"com/acme/shop/port/Short":               "Java, grpc-java (app.class); health service not registered; port 8080\n",
		"com/acme/shop/port/Switch":              "Java, grpc-java (app.class); health service not registered; port 9091\n",
		"com/acme/shop/port/Condition":           "Java, grpc-java (app.class); health service not registered\n",
		"com/acme/shop/port/Given":               "Java, grpc-java (app.class); health service not registered\n",
		"com/acme/shop/port/Two":                 "Java, grpc-java (app.class); health service not registered\n",
		"com/acme/shop/port/Sized":               "Java, grpc-java (app.class); health service not registered\n",
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
			dir := t.TempDir()
			write(t, filepath.Join(dir, "app.class"), classes[name+".class"])
			if got := describe(tree(t, dir)); got != want {
				t.Errorf("found:\n%swant:\n%s", got, want)
			}
		})
	}
}

// jar is what a jar is made of.
type jar struct {
	manifest string
	folder   string // that the classes are in
	classes  string // what the names of the classes begin with
	more     string // further entries, each with its text after a "=", if it has any
}

const (
	jvmStubs  = "demo/ "
	jvmClient = jvmStubs + "com/acme/shop/Client. com/acme/shop/InProcess. "
	jvmServer = jvmStubs + "com/acme/shop/Server. com/acme/shop/Greeter. "
	jvmShim   = "org/hyperledger/ "
)

func TestJarsGiveTheirServices(t *testing.T) {
	t.Parallel()
	classes := javaClasses(t)
	for name, c := range map[string]struct {
		path string
		jar  jar
		want string
	}{
		"thin":              {"app.jar", jar{classes: jvmServer}, "Java, grpc-java (app.jar); health service not registered; port 50051\n"},
		"thin, of a client": {"app.jar", jar{classes: jvmClient}, ""},
		"shaded": {"target/app.jar", jar{"Main-Class: com.acme.shop.Server\n", "", jvmServer + jvmLibrariesOfTests, ""},
			"Java, grpc-java (target/app.jar); health service not registered; port 50051\n"},
		"shaded, of a client":                            {"target/app.jar", jar{"Main-Class: com.acme.shop.Client\n", "", jvmClient + jvmShim + jvmLibrariesOfTests, ""}, ""},
		"shaded, of a client whose library has a server": {"target/app.jar", jar{"Main-Class: org.acme.Main\n", "", jvmServer + jvmLibrariesOfTests, ""}, ""},
		"shaded, without a main class": {"target/app.jar", jar{classes: jvmServer + jvmShim + jvmLibrariesOfTests},
			"Java, grpc-java (target/app.jar); health service not registered; port 50051\n"},
		"shaded, of a client, without a main class": {"target/app.jar", jar{classes: jvmClient + jvmShim + jvmLibrariesOfTests}, ""},
		"shaded, with a framework's main class": {"app.jar", jar{"Main-Class: io.vertx.core.Launcher\n", "", jvmServer + jvmLibrariesOfTests, ""},
			"Java, grpc-java (app.jar); health service not registered; port 50051\n"},
		"health": {"app.jar", jar{classes: "com/acme/shop/HealthyServer."}, "Java, grpc-java (app.jar); health service registered (app.jar); port 50051\n"},
		"health in another class": {"app.jar", jar{classes: jvmServer + "com/acme/shop/OwnHealth."},
			"Java, grpc-java (app.jar); health service registered (app.jar); port 50051\n"},
		"Spring Boot's": {"target/app-1.0.jar", jar{"Main-Class: org.springframework.boot.loader.launch.JarLauncher\nStart-Class: com.acme.shop.App\n",
			"BOOT-INF/classes/", jvmStubs + "com/acme/shop/SpringGreeter.", "BOOT-INF/lib/grpc-services-1.60.0.jar"},
			"Java, Spring gRPC (target/app-1.0.jar); health service registered by Spring gRPC; port 9090\n"},
		"Spring Boot's, of a client": {"target/app-1.0.jar", jar{"Start-Class: com.acme.shop.App\n", "BOOT-INF/classes/", jvmClient, "BOOT-INF/lib/grpc-netty-1.60.0.jar"}, ""},
		"Spring Boot's, with settings": {"app.jar", jar{"Start-Class: com.acme.shop.App\n", "BOOT-INF/classes/", jvmStubs + "com/acme/shop/SpringGreeter.",
			"BOOT-INF/classes/application.properties=spring.grpc.server.port:7070 BOOT-INF/classes/application.yml={\"spring.grpc.server.port\":7071} " +
				"BOOT-INF/classes/bootstrap.properties=spring.grpc.server.health.enabled=false"},
			"Java, Spring gRPC (app.jar); health service not registered; port 7070\n"},
		"Spring Boot's, with a profile's settings": {"app.jar", jar{"Start-Class: com.acme.shop.App\n", "BOOT-INF/classes/", jvmStubs + "com/acme/shop/SpringGreeter.",
			`BOOT-INF/classes/application.yml={"spring.config.activate.on-profile":"prod","spring.grpc.server.port":7071}`},
			"Java, Spring gRPC (app.jar); health service registered by Spring gRPC\n"},
		"a Micronaut app's": {"app.jar", jar{"Main-Class: com.acme.shop.App\n", "", jvmStubs + "com/acme/shop/Greeter. io/", "io/micronaut/grpc/server/GrpcEmbeddedServer.class"},
			"Java, Micronaut (app.jar); health service registered by Micronaut; port 50051\n"},
		"a Micronaut app's, without grpc-services": {"app.jar", jar{"Main-Class: com.acme.shop.App\n", "", jvmStubs + "com/acme/shop/Greeter.", "io/micronaut/grpc/server/GrpcEmbeddedServer.class"},
			"Java, Micronaut (app.jar); health service not registered; port 50051\n"},
		"a war":                     {"app.war", jar{folder: "WEB-INF/classes/", classes: jvmServer}, "Java, grpc-java (app.war); health service not registered; port 50051\n"},
		"of sources":                {"app-sources.jar", jar{classes: jvmServer}, ""},
		"of tests":                  {"target/app-1.0-tests.jar", jar{classes: jvmServer}, ""},
		"an agent":                  {"agent.jar", jar{"Premain-Class: com.acme.Agent\nMain-Class: com.acme.Agent\n", "", jvmServer, ""}, ""},
		"Maven's library":           {"app/lib/shop-1.0.jar", jar{classes: jvmServer, more: "META-INF/maven/com.acme/shop/pom.properties"}, ""},
		"Gradle's library":          {"app/lib/shop-1.0.jar", jar{classes: jvmServer}, ""},
		"a library in a repository": {"repository/com/acme/shop/1.0/shop-1.0.jar", jar{classes: jvmServer}, ""},
		"a library beside Quarkus":  {"target/quarkus-app/lib/main/com.acme.shop-1.0.jar", jar{classes: jvmServer}, ""},
		"an app installed by Gradle": {"build/install/shop/lib/shop-1.0.jar", jar{classes: jvmServer},
			"Java, grpc-java (build/install/shop/lib/shop-1.0.jar); health service not registered; port 50051\n"},
		"an app without a version": {"lib/shop.jar", jar{classes: jvmServer}, "Java, grpc-java (lib/shop.jar); health service not registered; port 50051\n"},
		"an app built by Gradle": {"build/libs/shop-1.0.jar", jar{classes: jvmServer},
			"Java, grpc-java (build/libs/shop-1.0.jar); health service not registered; port 50051\n"},
		"an app with a main class, beside its libraries": {"lib/shop-1.0.jar", jar{"Main-Class: com.acme.shop.Ser\n ver\n", "", jvmServer, ""},
			"Java, grpc-java (lib/shop-1.0.jar); health service not registered; port 50051\n"},
		"a library in itself": {"grpc.jar", jar{classes: "io/ org/ net/"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, c.path), c.jar.bytes(t, classes))
			if got := describe(tree(t, dir)); got != c.want {
				t.Errorf("found:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

// bytes packs the classes whose names begin as the jar says.
func (j jar) bytes(t *testing.T, classes map[string]string) string {
	t.Helper()
	entries := map[string]string{"META-INF/MANIFEST.MF": "Manifest-Version: 1.0\n" + j.manifest + "\nName: x\nMain-Class: not.this.One\n"}
	for name, text := range classes {
		for prefix := range strings.FieldsSeq(j.classes) {
			if strings.HasPrefix(name, prefix) {
				entries[j.folder+name] = text
			}
		}
	}
	for entry := range strings.FieldsSeq(j.more) {
		name, text, _ := strings.Cut(entry, "=")
		entries[name] = text
	}
	return pack(t, entries)
}

func pack(t *testing.T, entries map[string]string) string {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for name, text := range entries {
		entry, err := w.Create(name)
		must(t, err)
		_, err = io.WriteString(entry, text)
		must(t, err)
	}
	must(t, w.Close())
	return packed.String()
}

// Damaged and hostile jars give a note or nothing, and the tree is still read.
func TestHostileJarsAreLeftOut(t *testing.T) {
	t.Parallel()
	whole := jar{classes: jvmServer + jvmLibrariesOfTests}.bytes(t, javaClasses(t))
	// An end of an archive that says it has 2^40 entries, and where that is written (APPNOTE.TXT 4.3.14 to 4.3.16).
	many := "PK\x06\x06" + strings.Repeat("\x00", 33) + "\x01" + strings.Repeat("\x00", 18) +
		"PK\x06\x07" + strings.Repeat("\x00", 12) + "\x01\x00\x00\x00" +
		"PK\x05\x06\x00\x00\x00\x00" + strings.Repeat("\xff", 12) + "\x00\x00"
	dir := t.TempDir()
	for name, text := range map[string]string{
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
		write(t, filepath.Join(dir, name), text)
	}
	if got := tree(t, dir); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}

// bomb is a jar of 300 KB that comes to 300 MB. Its entries are one that is compressed once.
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

// javaClasses compiles testdata/jvm/classes.txtar and returns the class files by their paths.
func javaClasses(t *testing.T) map[string]string {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("compiling Java takes a JDK: ", err)
	}
	archive, err := txtar.ParseFile("testdata/jvm/classes.txtar")
	must(t, err)
	from, to := unpack(t, archive), t.TempDir()
	args := []string{"-nowarn", "-proc:none", "-J-XX:TieredStopAtLevel=1", "-d", to}
	for _, f := range archive.Files {
		args = append(args, filepath.Join(from, f.Name))
	}
	if said, err := exec.CommandContext(t.Context(), "javac", args...).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, said)
	}
	classes := map[string]string{}
	must(t, filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(to, path)
		classes[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return classes
}
