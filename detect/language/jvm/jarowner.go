package jvm

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/jvm/jar"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

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
