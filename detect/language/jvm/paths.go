package jvm

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// otherDirs are directories and source sets whose code is in no program of the app.
var otherDirs = []string{
	// Tests and what serves them, by the conventions of Maven, Gradle, sbt, Android and JMH.
	"test", "tests", "it", "jmh", "testing", "benchmark", "benchmarks", "testdata", "test-classes", "multi-jvm",
	"gatling",
	// What build tools generate.
	"generated", "generated-sources", "generated-src", "src_managed", "src-gen", "generated-test-sources",
}

var (
	// testSourceSet is a source set of tests with a name of its own: integrationTest, testFixtures, functional-test.
	testSourceSet = lazyregexp.New(`^(\w+Tests?|\w+-tests?|test[A-Z-]\w*)$`)
	// testSource is a test by the file names that surefire, failsafe, ScalaTest and Kotest look for.
	testSource = lazyregexp.New(`^(Test[A-Z]\w*|\w+(Tests?|TestCase|IT|Spec|TestBase))\.(java|kt|scala)$`)
	// buildWrapper is a jar that starts Gradle or Maven.
	buildWrapper = lazyregexp.New(`(^|/)(gradle|maven)-wrapper\.jar$`)
	// eclipseOutput is where Eclipse writes classes of Gradle's projects, with copies of sources that it does not
	// compile.
	eclipseOutput = lazyregexp.New(`(^|/)bin/(main|test|default)/`)
	// outputDir is where build tools write classes, with copies of the settings.
	outputDir = lazyregexp.New(`(^|/)(target|build|out|bin)/`)
	// sourceRoot is the directory in which packages begin, as in src/main/java/. A package may have any name, "test"
	// too.
	sourceRoot = lazyregexp.New(
		`(^|/)src/[^/]+/(java|kotlin|scala)/|/classes/(java|kotlin|scala)/main/|(^|/)classes/`)
)

// isOwn reports whether a file lies where the app's own code may be.
func isOwn(file string) bool {
	dir := path.Dir(file)
	if root := sourceRoot.FindStringIndex(file); root != nil {
		dir = file[:root[1]]
	}
	for name := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if slices.Contains(otherDirs, name) || testSourceSet.MatchString(name) {
			return false
		}
	}
	return !buildWrapper.MatchString(file)
}

// classPath returns the part of the path of a class file that is the name of the class, with slashes.
func classPath(file string) string {
	if root := sourceRoot.FindStringIndex(file); root != nil {
		return file[root[1]:]
	}
	return file
}

var (
	// settingsFiles are in force in every profile. The first have precedence over the last.
	settingsFiles = []string{
		"application.properties", "application.yml", "application.yaml", "application.conf", "bootstrap.yml",
		"bootstrap.yaml", "bootstrap.properties", "dubbo.properties", "microprofile-config.properties",
		"application.toml", "application.json", "application.groovy",
	}
	// micronautSettings are settings files that Micronaut reads and other frameworks do not.
	micronautSettings = source.Exactly(`application(?:-[\w-]+)?\.(?:toml|json|groovy)`)
	// ownSettings is a settings file of the app's own, which no framework reads: the app asks for its keys.
	ownSettings = source.Exactly(`(?:config|configuration|server|grpc|app|settings|default|defaults)\.properties`)
	// readTogether is a settings file of which all on the class path are read.
	readTogether = source.Exactly(`application\.conf|microprofile-config\.properties`)
	// otherSettings is a settings file that a framework reads if the app names it.
	otherSettings = lazyregexp.New(`(^|/)src/main/resources/([^/]+/)?[^/]+\.(?:properties|ya?ml)$`)
	// confFile is a file of settings in HOCON that an app may load by its name.
	confFile = lazyregexp.New(`(^|/)(?:resources|conf)/(?:[^/]+/)?[^/]+\.conf$`)
	// springBeans is a file of Spring beans that may configure a protocol of Dubbo.
	springBeans = lazyregexp.New(`(^|/)resources/(.*/)?[^/]*(dubbo|spring|provider|application)[^/]*\.xml$|` +
		`(^|/)resources/spring/[^/]+\.xml$`)
)

// isSettings reports whether a framework reads a file with this name, in any profile but those of tests.
func isSettings(name string) bool {
	return slices.Contains(settingsFiles, name) || profileFile.MatchString(name) && !isTestProfile(name)
}

// isOtherSettings reports whether no framework reads a settings file unless the app names it. Settings in code are of
// no file.
func isOtherSettings(file string) bool {
	name := path.Base(file)
	return file == "" || otherSettings.MatchString(file) && !isSettings(name) && !profileFile.MatchString(name)
}
