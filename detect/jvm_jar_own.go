package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// jvmLaunchers begin the main classes by which frameworks start apps.
var jvmLaunchers = []string{"io.vertx.core.", "io.vertx.launcher.", "io.ktor.server.", "io.quarkus.bootstrap.", "io.quarkus.runner.",
	"io.helidon.Main", "io.helidon.microprofile.", "org.springframework.boot.loader.", "play.core.server."}

// jvmHosts are packages that hold other people's: their names are those of accounts.
var jvmHosts = regexp.MustCompile(`^(?:io|com|org|net)/(?:github|gitlab|gitee|bitbucket|sourceforge)/`)

// main returns the class that the jar starts, with slashes; "" where it names none, or a framework's own.
func (j *jvmJarFile) main() string {
	for _, name := range []string{"Start-Class", "Main-Verticle", "Main-Class"} {
		class := strings.TrimSpace(j.manifest[name])
		framework := slices.ContainsFunc(jvmLaunchers, func(p string) bool { return strings.HasPrefix(class, p) })
		if class != "" && !framework {
			return strings.ReplaceAll(class, ".", "/")
		}
	}
	return ""
}

// own returns what tells the app's own classes. Where a jar holds the app's dependencies too, they are those in the
// packages of whoever wrote the main class; only where it names none, all that are of no known library.
func (j *jvmJarFile) own() func(entry string) bool {
	if j.layers {
		return jvmLayer.MatchString
	}
	home := jvmHome(j.main())
	return func(entry string) bool {
		inside := home != "" && strings.HasPrefix(entry, home)
		return inside || !(j.fat && home != "") && !jvmLibraryClass(entry)
	}
}

// jvmHome returns the packages that a main class shares with the app's others: com/example/, or the package itself where
// a library has it too, as io/grpc/examples/; "" for a class in none.
func jvmHome(main string) string {
	dir := path.Dir(main) + "/"
	if main == "" || dir == "./" {
		return ""
	}
	if jvmLibraryClass(dir) {
		return dir
	}
	depth := 2
	if jvmHosts.MatchString(dir) {
		depth = 3
	}
	parts := strings.SplitAfter(dir, "/")
	return strings.Join(parts[:min(depth, len(parts)-1)], "")
}

// jvmServers are packages of libraries that hold a server for those who start it, beside those of jvmLibraries: an app that
// has one among its dependencies serves nothing by that.
var jvmServers = []string{"org/hyperledger/fabric/shim/", "org/grpcmock/", "org/wiremock/", "com/alibaba/nacos/", "io/camunda/zeebe/",
	"org/mockserver/"}

func jvmServing(class string) bool {
	return slices.ContainsFunc(jvmServers, func(p string) bool { return strings.HasPrefix(class, p) })
}

var (
	// jvmFolderOfJars is where distributions and builds keep the jars of dependencies, beside the app's own, if at all.
	jvmFolderOfJars = regexp.MustCompile(`(^|/)(?:lib|libs|jars|dependency|dependencies|ext|plugins|third[-_]?party)/[^/]+$`)
	// jvmGradleOutput is where Gradle puts what it builds.
	jvmGradleOutput = regexp.MustCompile(`(^|/)build/libs/[^/]+$`)
	// jvmVersion is the end of the name of a jar that has a version.
	jvmVersion = regexp.MustCompile(`-v?\d[\w.+-]*$`)
	// jvmRepository is a path whose last folders may be a jar's artifact and version, as in a Maven repository.
	jvmRepository = regexp.MustCompile(`(?:^|/)([^/]+)/([^/]+)/([^/]+)\.jar$`)
)

// jvmJarName returns the artifact that a jar is named after, as group:artifact where it names both: io.quarkus:quarkus-grpc
// of io.quarkus.quarkus-grpc-3.2.0.jar, grpc-services of grpc-services-1.60.0.jar.
func jvmJarName(base string) string {
	name := jvmVersion.ReplaceAllString(strings.TrimSuffix(strings.TrimSuffix(base, ".jar"), ".war"), "")
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		name = name[:dot] + ":" + name[dot+1:]
	}
	return name
}

// apps reports whether the jar is the app's own, or one of the app's own, and no dependency or tool. One that other jars
// lie beside is, where it names a main class; or, because the jars of a program that a script starts name none, where
// it neither has a version nor says which artifact it is, or has the name of the folder that all is in.
func (j *jvmJarFile) apps() bool {
	if j.manifest["Premain-Class"] != "" { // an agent
		return false
	}
	if m := jvmRepository.FindStringSubmatch(j.path); m != nil && strings.HasPrefix(m[3], m[1]+"-"+m[2]) {
		return false
	}
	if j.layers || !jvmFolderOfJars.MatchString(j.path) || jvmGradleOutput.MatchString(j.path) || j.main() != "" {
		return true
	}
	base := path.Base(j.path)
	// Play takes the settings out of the app's own jar; sbt's organisation is "default" where the app names none.
	if strings.HasSuffix(base, "-sans-externalized.jar") || strings.HasPrefix(base, "default.") {
		return true
	}
	if j.maven {
		return false
	}
	return !jvmVersion.MatchString(strings.TrimSuffix(base, ".jar")) || jvmJarName(base) == jvmJarName(path.Base(path.Dir(path.Dir(j.path))))
}

// jvmManifest reads the main section of a manifest (JAR File Specification, Notes on Manifest and Signature Files): a line that
// begins with a space goes on with the one before.
func jvmManifest(text []byte) map[string]string {
	says := map[string]string{}
	last := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		if more, ok := strings.CutPrefix(line, " "); ok {
			says[last] += more
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		last = name
		says[name] = strings.TrimSpace(value)
	}
	return says
}
