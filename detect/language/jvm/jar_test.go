package jvm

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
)

// testJar is what a jar is made of.
type testJar struct {
	manifest string
	dir      string // the directory that the classes are in
	classes  string // what the names of the classes begin with, separated by spaces
	entries  string // further entries, each with its text after "=" if it has any
}

// Classes of testdata/classes.txtar.
const (
	stubs     = "demo/ "
	client    = stubs + "com/acme/shop/Client. com/acme/shop/InProcess. "
	server    = stubs + "com/acme/shop/Server. com/acme/shop/Greeter. "
	fabric    = "org/hyperledger/ "
	libraries = "io/ org/springframework/ net/" // what a jar has in which all dependencies of an app are unpacked
)

func TestJars(t *testing.T) {
	t.Parallel()
	classes := javaClasses(t)
	for name, test := range map[string]struct {
		path string
		jar  testJar
		want string
	}{
		"thin": {
			"app.jar", testJar{classes: server}, "grpc-java (app.jar); health service not registered; port not known",
		},
		"thin, of a client": {"app.jar", testJar{classes: client}, ""},
		"shaded": {
			"target/app.jar",
			testJar{manifest: "Main-Class: com.acme.shop.Server\n", classes: server + libraries},
			"grpc-java (target/app.jar); health service not registered; port not known",
		},
		"shaded, of a client": {"target/app.jar", testJar{
			manifest: "Main-Class: com.acme.shop.Client\n", classes: client + fabric + libraries,
		}, ""},
		"shaded, of a client whose library has a server": {"target/app.jar", testJar{
			manifest: "Main-Class: org.acme.Main\n", classes: server + libraries,
		}, ""},
		"shaded, without a main class": {
			"target/app.jar",
			testJar{classes: server + fabric + libraries},
			"grpc-java (target/app.jar); health service not registered; port not known",
		},
		"shaded, of a client, without a main class": {
			"target/app.jar", testJar{classes: client + fabric + libraries}, "",
		},
		"shaded, with a framework's main class": {
			"app.jar",
			testJar{manifest: "Main-Class: io.vertx.core.Launcher\n", classes: server + libraries},
			"grpc-java (app.jar); health service not registered; port not known",
		},
		"health": {
			"app.jar",
			testJar{classes: "com/acme/shop/HealthyServer."},
			"grpc-java (app.jar); health service registered (app.jar); port not known",
		},
		"health in another class": {
			"app.jar",
			testJar{classes: server + "com/acme/shop/OwnHealth."},
			"grpc-java (app.jar); health service registered (app.jar); port not known",
		},
		"a war": {
			"app.war",
			testJar{dir: "WEB-INF/classes/", classes: server},
			"grpc-java (app.war); health service not registered; port not known",
		},
		"a library in itself": {"grpc.jar", testJar{classes: "io/ org/ net/"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkServices(t, test.path, test.jar.pack(t, classes), test.want)
		})
	}
}

func TestJarsOfFrameworks(t *testing.T) {
	t.Parallel()
	classes := javaClasses(t)
	springBoot := testJar{
		manifest: "Start-Class: com.acme.shop.App\n", dir: "BOOT-INF/classes/",
		classes: stubs + "com/acme/shop/SpringGreeter.",
	}
	micronautApp := testJar{
		manifest: "Main-Class: com.acme.shop.App\n", classes: stubs + "com/acme/shop/Greeter.",
		entries: "io/micronaut/grpc/server/GrpcEmbeddedServer.class",
	}
	for name, test := range map[string]struct {
		path    string
		jar     testJar
		entries string // further entries of the jar
		want    string
	}{
		"Spring Boot's": {
			"target/app-1.0.jar",
			testJar{
				manifest: "Main-Class: org.springframework.boot.loader.launch.JarLauncher\n" + springBoot.manifest,
				dir:      springBoot.dir, classes: springBoot.classes,
			},
			"BOOT-INF/lib/grpc-services-1.60.0.jar",
			"Spring gRPC (target/app-1.0.jar); health service registered by Spring gRPC; port 9090 by default",
		},
		"Spring Boot's, of a client": {"target/app-1.0.jar", testJar{
			manifest: springBoot.manifest, dir: springBoot.dir, classes: client,
		}, "BOOT-INF/lib/grpc-netty-1.60.0.jar", ""},
		"Spring Boot's, with settings": {
			"app.jar", springBoot, "BOOT-INF/classes/application.properties=spring.grpc.server.port:7070 " +
				"BOOT-INF/classes/application.yml={\"spring.grpc.server.host\":\"0.0.0.0\"} " +
				"BOOT-INF/classes/bootstrap.properties=spring.grpc.server.health.enabled=false",
			"Spring gRPC (app.jar); health service not registered; port 7070",
		},
		"Spring Boot's, with a profile's settings": {
			"app.jar", springBoot,
			`BOOT-INF/classes/application.yml={"spring.config.activate.on-profile":"prod",` +
				`"spring.grpc.server.port":7071} BOOT-INF/lib/grpc-services-1.60.0.jar`,
			"Spring gRPC (app.jar); health service registered by Spring gRPC; port not known",
		},
		"a Micronaut app's": {"app.jar", testJar{
			manifest: micronautApp.manifest, classes: micronautApp.classes + " io/", entries: micronautApp.entries,
		}, "", "Micronaut (app.jar); health service registered by Micronaut; port 50051 by default"},
		"a Micronaut app's, without grpc-services": {
			"app.jar", micronautApp, "", "Micronaut (app.jar); health service not registered; port 50051 by default",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := test.jar
			j.entries += " " + test.entries
			checkServices(t, test.path, j.pack(t, classes), test.want)
		})
	}
}

// A built app has all its libraries in it: what is not there registers nothing.
func TestHealthInJarsByTheirLibraries(t *testing.T) {
	t.Parallel()
	classes := javaClasses(t)
	springBoot := testJar{dir: "BOOT-INF/classes/", classes: "com/acme/shop/SpringGreeter."}
	for name, test := range map[string]struct {
		path    string
		jar     testJar
		entries string // further entries of the jar
		want    string
	}{
		"Spring Boot's, without grpc-services": {
			"app.jar", springBoot, "BOOT-INF/lib/spring-grpc-server-spring-boot-autoconfigure-1.0.0.jar",
			"Spring gRPC (app.jar); health service not registered; port 9090 by default",
		},
		"Spring Boot's, with an implementation alone": {
			"app.jar",
			testJar{dir: springBoot.dir, classes: stubs + "com/acme/shop/Greeter."},
			"BOOT-INF/lib/spring-boot-grpc-server-4.1.0.jar BOOT-INF/lib/grpc-services-1.75.0.jar",
			"Spring gRPC (app.jar); health service registered by Spring gRPC; port 9090 by default",
		},
		"an old Micronaut app's": {
			"app.jar",
			testJar{dir: "WEB-INF/classes/", classes: stubs + "com/acme/shop/Greeter."},
			"WEB-INF/lib/micronaut-grpc-server-runtime-3.2.0.jar WEB-INF/lib/grpc-services-1.45.0.jar",
			"Micronaut (app.jar); health service not registered; port 50051 by default",
		},
		"net.devh's, without grpc-services": {
			"app.jar",
			testJar{dir: "BOOT-INF/classes/", classes: stubs + "com/acme/shop/DevhGreeter."},
			"BOOT-INF/lib/grpc-server-spring-boot-starter-3.1.0.RELEASE.jar",
			"net.devh (app.jar); health service not registered; port 9090 by default",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := test.jar
			j.entries += " " + test.entries
			checkServices(t, test.path, j.pack(t, classes), test.want)
		})
	}
}

// Which jars are the app's own is known by their names, their manifests and the directories that they are in.
func TestJarsOfLibrariesAndApps(t *testing.T) {
	t.Parallel()
	classes := javaClasses(t)
	thin := testJar{classes: server}
	withMain, agent, fromMaven := thin, thin, thin
	withMain.manifest = "Main-Class: com.acme.shop.Ser\n ver\n"
	agent.manifest = "Premain-Class: com.acme.Agent\nMain-Class: com.acme.Agent\n"
	fromMaven.entries = "META-INF/maven/com.acme/shop/pom.properties"
	for name, test := range map[string]struct {
		path  string
		jar   testJar
		isApp bool
	}{
		"of sources":                 {"app-sources.jar", thin, false},
		"of tests":                   {"target/app-1.0-tests.jar", thin, false},
		"an agent":                   {"agent.jar", agent, false},
		"Maven's library":            {"app/lib/shop-1.0.jar", fromMaven, false},
		"Gradle's library":           {"app/lib/shop-1.0.jar", thin, false},
		"a library in a repository":  {"repository/com/acme/shop/1.0/shop-1.0.jar", thin, false},
		"a library beside Quarkus":   {"target/quarkus-app/lib/main/com.acme.shop-1.0.jar", thin, false},
		"an app installed by Gradle": {"build/install/shop/lib/shop-1.0.jar", thin, true},
		"an app without a version":   {"lib/shop.jar", thin, true},
		"an app built by Gradle":     {"build/libs/shop-1.0.jar", thin, true},
		"an app with a main class, beside its libraries": {"lib/shop-1.0.jar", withMain, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := ""
			if test.isApp {
				want = "grpc-java (" + test.path + "); health service not registered; port not known"
			}
			checkServices(t, test.path, test.jar.pack(t, classes), want)
		})
	}
}

// pack returns the jar with those of the classes that it names.
func (j testJar) pack(t *testing.T, classes map[string]string) string {
	t.Helper()
	manifest := "Manifest-Version: 1.0\n" + j.manifest + "\nName: x\nMain-Class: not.this.One\n"
	entries := map[string]string{"META-INF/MANIFEST.MF": manifest}
	for name, data := range classes {
		for prefix := range strings.FieldsSeq(j.classes) {
			if strings.HasPrefix(name, prefix) {
				entries[j.dir+name] = data
			}
		}
	}
	for entry := range strings.FieldsSeq(j.entries) {
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
