package jvm

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/jar"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	// otherJar is a jar that starts nothing, or a part of another one beside it: sources, documentation and tests, what
	// the shade plugin of Maven keeps of the jar before it adds the dependencies, and what the plugin of Spring Boot
	// for Gradle makes beside its own jar.
	otherJar = lazyregexp.New(`-(sources|javadoc|tests?|test-fixtures|plain)\.jar$|^original-`)
	// dependencyJar is a jar that is not the app's own, by its directory in the layouts of Spring Boot, wars and
	// Quarkus. Its name still tells the framework of the app.
	dependencyJar = lazyregexp.New(
		`(^|/)((BOOT-INF|WEB-INF)/lib(-provided)?|quarkus-app/(lib|quarkus)|lib/(main|boot))/`)
)

// analyzeJar analyzes a jar or a war: which artifacts the app is built with, and the classes that are the app's own.
func analyzeJar(f *tree.File) (*analyzer.Result[extra], error) {
	if otherJar.MatchString(path.Base(f.Path)) {
		return nil, nil
	}
	if dependencyJar.MatchString(f.Path) {
		result := &analyzer.Result[extra]{Built: true}
		result.Extra.build.Artifacts = []string{jar.Artifact(f.Path)}
		result.Extra.build.SetVersion(jar.Artifact(f.Path), jar.Version(f.Path))
		return result, nil
	}
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return analyzeArchive(f.Path, f, size)
}

// analyzeArchive analyzes a jar with a path in the app and a length in bytes.
func analyzeArchive(file string, r io.ReaderAt, size int64) (*analyzer.Result[extra], error) {
	opened, err := jar.Open(r, size)
	if err != nil {
		return nil, err
	}
	a := &archive{Archive: opened, path: file}
	result := &analyzer.Result[extra]{Built: true}
	result.Extra.build.Artifacts = append([]string{jar.Artifact(file)}, a.survey(&result.Extra.build)...)
	if a.isApp() {
		result.Extra.settings = a.settings()
		result.Findings, result.Language, err = a.findings()
	}
	return result, err
}

// archive is a jar or a war of the app.
type archive struct {
	*jar.Archive
	path     string // in the app
	manifest map[string]string
	// bundled says that the dependencies of the app are unpacked in the jar, beside the app's own classes.
	bundled bool
	// layered says that the app's own classes lie in a directory of the jar, and its dependencies as jars in another.
	layered bool
	// fromMaven says that the jar states which artifact it is, as all do that Maven makes.
	fromMaven bool
}

var (
	mavenMetadata = lazyregexp.New(`^META-INF/maven/([^/]+)/([^/]+)/pom\.(?:properties|xml)$`)
	ownClassesDir = lazyregexp.New(`^(?:BOOT-INF|WEB-INF)/classes/`)
)

// bundledArtifacts are classes that prove that a library is unpacked in a jar, with its artifact.
var bundledArtifacts = map[string]string{
	"io/grpc/protobuf/services/HealthStatusManager.class":       "io.grpc:grpc-services",
	"io/grpc/services/HealthStatusManager.class":                "io.grpc:grpc-services",
	"io/micronaut/grpc/server/GrpcEmbeddedServer.class":         "io.micronaut.grpc:micronaut-grpc-server-runtime",
	"io/quarkus/grpc/runtime/GrpcServerRecorder.class":          "io.quarkus:quarkus-grpc",
	"akka/grpc/scaladsl/ServiceHandler.class":                   "com.lightbend.akka.grpc:akka-grpc-runtime",
	"org/apache/pekko/grpc/scaladsl/ServiceHandler.class":       "org.apache.pekko:pekko-grpc-runtime",
	"org/apache/dubbo/rpc/protocol/tri/TripleProtocol.class":    "org.apache.dubbo:dubbo-rpc-triple",
	"org/springframework/grpc/server/service/GrpcService.class": "org.springframework.grpc:spring-grpc-core",
	"net/devh/boot/grpc/server/service/GrpcService.class":       "net.devh:grpc-server-spring-boot-autoconfigure",
	"org/lognet/springboot/grpc/GRpcService.class":              "io.github.lognet:grpc-spring-boot-starter",
	"io/helidon/webserver/grpc/GrpcRouting.class":               "io.helidon.webserver:helidon-webserver-grpc",
}

// survey looks at the names of all entries once. It reads the manifest, sets the fields of the archive and returns the
// artifacts that the app is built with. The versions of those that lie in it go to build.
func (a *archive) survey(build *buildfile.File) []string {
	var artifacts []string
	for _, e := range a.Entries {
		switch name := e.Name; {
		case name == "META-INF/MANIFEST.MF":
			// A manifest that cannot be read is as good as none.
			text, _ := a.Read(e)
			a.manifest = jar.ParseManifest(text)
		case strings.HasPrefix(name, "META-INF/maven/"):
			if m := mavenMetadata.FindStringSubmatch(name); m != nil {
				a.fromMaven = true
				artifacts = append(artifacts, m[1]+":"+m[2])
			}
		case strings.HasSuffix(name, ".jar") && dependencyJar.MatchString(name):
			build.SetVersion(jar.Artifact(name), jar.Version(name))
			artifacts = append(artifacts, jar.Artifact(name))
		case ownClassesDir.MatchString(name):
			a.layered = true
		case name == "io/grpc/BindableService.class":
			a.bundled = true
		default:
			if artifact := bundledArtifacts[name]; artifact != "" {
				artifacts = append(artifacts, artifact)
			}
		}
	}
	slices.Sort(artifacts)
	return slices.Compact(artifacts)
}

// maxSettingsFiles is how many settings files in a jar are read: there may be one for each profile.
const maxSettingsFiles = 64

// settings returns what the settings files in the jar say. It has no lines.
func (a *archive) settings() []setting {
	var all []setting
	files := 0
	for _, e := range a.Entries {
		name := strings.TrimPrefix(ownClassesDir.ReplaceAllString(e.Name, ""), "META-INF/")
		if !isSettings(name) || files == maxSettingsFiles {
			continue
		}
		files++
		text, err := a.Read(e)
		if err != nil {
			continue
		}
		of, _ := readSettings(name, text) // the settings say that a part of a file could not be read
		all = append(all, of...)
	}
	for i := range all {
		all[i].Place = plan.Place{Path: a.path}
	}
	return all
}

// findings returns those of the app's own classes, and the language of the class that makes the server. The error says
// from which class on the jar was left out; the findings before come with it.
func (a *archive) findings() (found []finding.Finding, language string, err error) {
	isOwn, hasServer := a.ownClasses(), false
	for _, e := range a.Entries {
		if path.Ext(e.Name) != ".class" || !isOwn(e.Name) {
			continue
		}
		data, err := a.Read(e)
		if err != nil {
			err = fmt.Errorf("leaving out the rest of the jar from %s: %w", plan.Printable(e.Name), err)
			return found, language, err
		}
		result := analyzeClass(data, e.Name+": ")
		if result == nil {
			continue
		}
		makesServer := finding.Has[finding.Server](result.Findings)
		if len(found) == 0 || makesServer && !hasServer {
			language, hasServer = result.Language, makesServer
		}
		found = append(found, result.Findings...)
	}
	return found, language, nil
}

var (
	// libraryDir is where distributions and builds keep jars: those of dependencies, with or without the app's own.
	libraryDir = lazyregexp.New(`(^|/)(?:lib|libs|jars|dependency|dependencies|ext|plugins|third[-_]?party)/[^/]+$`)
	// gradleOutput is where Gradle writes the jars that it builds.
	gradleOutput = lazyregexp.New(`(^|/)build/libs/[^/]+$`)
	// inRepository is a path in a Maven repository: artifact/version/artifact-version.jar.
	inRepository = lazyregexp.New(`(?:^|/)([^/]+)/([^/]+)/([^/]+)\.jar$`)
)

// isApp reports whether the jar is the app's own and no dependency or tool. A jar among others is the app's own if it
// names a main class. The jars of programs that a script starts name none; such a jar is the app's own if neither its
// name has a version nor its contents say which artifact it is, or if it is named like the directory of the whole
// program.
func (a *archive) isApp() bool {
	if isAgent := a.manifest["Premain-Class"] != ""; isAgent {
		return false
	}
	if m := inRepository.FindStringSubmatch(a.path); m != nil && strings.HasPrefix(m[3], m[1]+"-"+m[2]) {
		return false
	}
	if a.layered || !libraryDir.MatchString(a.path) || gradleOutput.MatchString(a.path) || a.mainClass() != "" {
		return true
	}
	name := path.Base(a.path)
	// Play moves the settings out of the app's own jar. The organization in sbt is "default" if the app names none.
	if strings.HasSuffix(name, "-sans-externalized.jar") || strings.HasPrefix(name, "default.") {
		return true
	}
	if a.fromMaven {
		return false
	}
	return !jar.HasVersion(name) || jar.Artifact(name) == jar.Artifact(path.Dir(path.Dir(a.path)))
}

// launchers are what the names of main classes begin with by which frameworks start an app.
var launchers = []string{
	"io.vertx.core.", "io.vertx.launcher.", "io.ktor.server.", "io.quarkus.bootstrap.", "io.quarkus.runner.",
	"io.helidon.Main", "io.helidon.microprofile.", "org.springframework.boot.loader.", "play.core.server.",
}

// mainClass returns the class that the jar starts, with slashes. It is "" if the manifest names none, or one of a
// framework.
func (a *archive) mainClass() string {
	for _, header := range []string{"Start-Class", "Main-Verticle", "Main-Class"} {
		class := strings.TrimSpace(a.manifest[header])
		if class != "" && !hasPrefixIn(class, launchers) {
			return strings.ReplaceAll(class, ".", "/")
		}
	}
	return ""
}

// ownClasses returns a function that reports whether an entry is one of the app's own classes. Where the dependencies
// are unpacked in the jar, the app's own are those in the packages of the main class. Where the manifest names no main
// class, they are all that are in no known library.
func (a *archive) ownClasses() func(entry string) bool {
	if a.layered {
		return ownClassesDir.MatchString
	}
	home := homePackage(a.mainClass())
	return func(entry string) bool {
		if home != "" && strings.HasPrefix(entry, home) {
			return true
		}
		return !(a.bundled && home != "") && !isLibraryClass(entry)
	}
}

// hostingPackage is a package below which those of other people lie, named after their accounts.
var hostingPackage = lazyregexp.New(`^(?:io|com|org|net)/(?:github|gitlab|gitee|bitbucket|sourceforge)/`)

// homePackage returns the package that the main class shares with the other classes of an app, as com/example/. It is
// the package of the main class itself if that is in a library, as in io/grpc/examples/, and "" for a class in no
// package.
func homePackage(mainClass string) string {
	dir := path.Dir(mainClass) + "/"
	if mainClass == "" || dir == "./" {
		return ""
	}
	if isLibraryClass(dir) {
		return dir
	}
	depth := 2
	if hostingPackage.MatchString(dir) {
		depth = 3
	}
	parts := strings.SplitAfter(dir, "/")
	return strings.Join(parts[:min(depth, len(parts)-1)], "")
}
