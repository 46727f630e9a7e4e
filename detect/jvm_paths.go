package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// jvmTests are source sets and folders whose code is in no program of the app, beside those that jvmTestSet takes: tests
// and what serves them, by the conventions of Maven, Gradle, sbt, Android and JMH.
var jvmTests = []string{"test", "tests", "it", "jmh", "testing", "benchmark", "benchmarks", "testdata", "test-classes",
	"multi-jvm", "gatling"}

// jvmTestSet is a source set for tests: integrationTest, androidTest, testFixtures, functional-test.
var jvmTestSet = regexp.MustCompile(`^(\w+Tests?|\w+-tests?|test[A-Z-]\w*)$`)

// jvmTestName is a source that only tests use, by the names that surefire, failsafe, ScalaTest and Kotest look for.
var jvmTestName = regexp.MustCompile(`^(Test[A-Z]\w*|\w+(Tests?|TestCase|IT|Spec|TestBase))\.(java|kt|scala)$`)

// jvmGenerated are folders where build tools write stubs, and where they keep what they downloaded.
var jvmGenerated = []string{"generated", "generated-sources", "generated-src", "src_managed", "src-gen", "generated-test-sources"}

// jvmDependencies are the folders of jars that are not the app's own: in Spring Boot's and wars' layout, in Quarkus', and
// of Maven's and Gradle's wrappers. Their names still tell a framework.
var jvmDependencies = regexp.MustCompile(`(^|/)((BOOT-INF|WEB-INF)/lib(-provided)?|quarkus-app/(lib|quarkus)|lib/(main|boot))/`)

var jvmWrapper = regexp.MustCompile(`(^|/)(gradle|maven)-wrapper\.jar$`)

// jvmSourceRoot is where packages begin: src/main/java/. A package may have any name, "test" too.
var jvmSourceRoot = regexp.MustCompile(`(^|/)src/[^/]+/(java|kotlin|scala)/|/classes/(java|kotlin|scala)/main/|(^|/)classes/`)

// jvmNotOwn reports whether a file lies where no code of the app's own does.
func jvmNotOwn(p string) bool {
	dir := path.Dir(p)
	if root := jvmSourceRoot.FindStringIndex(p); root != nil {
		dir = p[:root[1]]
	}
	for folder := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if slices.Contains(jvmTests, folder) || slices.Contains(jvmGenerated, folder) || jvmTestSet.MatchString(folder) {
			return true
		}
	}
	return jvmWrapper.MatchString(p)
}

// jvmSettingsNames are the settings that hold whatever the profile. Those of one profile (application-dev.yml) are not
// known to be in force.
var jvmSettingsNames = []string{"application.properties", "application.yml", "application.yaml", "bootstrap.yml",
	"bootstrap.yaml", "bootstrap.properties", "dubbo.properties", "microprofile-config.properties"}

// jvmSpringXML are files of Spring beans that may set a Dubbo protocol.
var jvmSpringXML = regexp.MustCompile(`(^|/)resources/(.*/)?[^/]*(dubbo|spring|provider|application)[^/]*\.xml$|(^|/)resources/spring/[^/]+\.xml$`)

// jvmBuildFile reports whether a file, other than a pom.xml, says what a project is built with.
func jvmBuildFile(p string) bool {
	switch name := path.Base(p); path.Ext(name) {
	case ".gradle", ".sbt":
		return true
	case ".kts":
		return strings.HasSuffix(name, ".gradle.kts")
	case ".toml":
		return strings.HasSuffix(name, ".versions.toml")
	case ".scala":
		return path.Base(path.Dir(p)) == "project" // sbt's own build
	}
	return false
}

// jvmLibraries are packages of libraries and frameworks: their classes, in a jar that holds an app and all it needs, are
// not the app's.
var jvmLibraries = []string{"io/grpc/", "io/netty/", "io/vertx/", "io/quarkus/", "io/micronaut/", "io/helidon/",
	"io/opentelemetry/", "io/opencensus/", "io/envoyproxy/", "io/temporal/", "io/dapr/", "io/etcd/", "io/servicetalk/",
	"io/perfmark/", "io/micrometer/", "io/smallrye/", "io/prometheus/", "com/google/", "com/linecorp/", "com/fasterxml/",
	"com/lightbend/", "com/typesafe/", "org/springframework/", "org/lognet/", "org/apache/", "org/eclipse/", "net/devh/",
	"akka/", "play/", "scala/", "scalapb/", "kotlin/", "kotlinx/", "zio/", "fs2/", "cats/", "reactor/", "META-INF/versions/"}

func jvmLibraryClass(name string) bool {
	return slices.ContainsFunc(jvmLibraries, func(p string) bool { return strings.HasPrefix(name, p) })
}

// jvmClassName returns what is left of the path of a class after the folder of classes that it is in.
func jvmClassName(p string) string {
	if root := jvmSourceRoot.FindStringIndex(p); root != nil {
		return p[root[1]:]
	}
	return p
}
