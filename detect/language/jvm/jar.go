package jvm

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

const (
	// maxDirectory is the maximum length of a list of entries, in bytes. The largest jars have 100,000 entries of about
	// 100 bytes.
	maxDirectory = 16 << 20
	// maxUnpacked is how many bytes are unpacked of one archive. The classes of an app have a few MiB.
	// [tree.MaxProgram] bounds the packed bytes, and [tree.MaxSource] each entry.
	maxUnpacked = 128 << 20
	// maxSettings bounds the settings of a jar.
	maxSettings = 10_000
)

var (
	// otherJar is a jar that starts nothing, or a part of a neighboring jar: sources, documentation and tests, the
	// original jar from before Maven's shade plugin adds the dependencies, and the plain jar of Spring Boot's plugin
	// for Gradle.
	otherJar = lazyregexp.New(`-(sources|javadoc|tests?|test-fixtures|plain)\.jar$|^original-`)
	// dependencyJar is a jar of a dependency, by the directory in the layouts of Spring Boot, wars, Quarkus and Maven
	// repositories. The name of the jar still tells the framework of the app.
	dependencyJar = lazyregexp.New(
		`(^|/)((BOOT-INF|WEB-INF)/lib(-provided)?|quarkus-app/(lib|quarkus)|lib/(main|boot)|repository)/`)
	// libraryDir is a directory of distributions and builds for jars, either of dependencies or of the app.
	libraryDir = lazyregexp.New(`(^|/)(?:lib|libs|jars|dependency|dependencies|ext|plugins|third[-_]?party)/[^/]+$`)
	// toolOutput is a jar of the app by the path alone: the output of Gradle, a jar of Play without settings, or a jar
	// of sbt's organization "default", for apps that name none.
	toolOutput = lazyregexp.New(`(^|/)build/libs/[^/]+$|-sans-externalized\.jar$|(^|/)default\.[^/]+$`)
	// jarVersion is the version at the end of an archive's name.
	jarVersion    = lazyregexp.New(`-v?\d[\w.+-]*$`)
	ownClassesDir = lazyregexp.New(`^(?:BOOT-INF|WEB-INF)/classes/`)
	// manifestHeader names a class in a manifest, and launcher begins the name of a framework's class that starts apps.
	manifestHeader = lazyregexp.New(`(?m)^(Start-Class|Main-Verticle|Main-Class|Premain-Class): *(\S+)`)
	launcher       = lazyregexp.New(`^(?:io/vertx/(?:core|launcher)|io/ktor/server|io/quarkus/(?:bootstrap|runner)|` +
		`io/helidon/(?:Main|microprofile)|org/springframework/boot/loader|play/core/server)\b`)
	// homePackage is the common package of a main class and the app's further classes: com/example/, and
	// io/github/someone/.
	homePackage = lazyregexp.New(
		`^(?:\w+/(?:github|gitlab|gitee|bitbucket|sourceforge)/[^/]+/|[^/]+/(?:[^/]+/)?)`)
)

// bundledArtifacts maps classes in a jar to the artifact of the library that is unpacked there.
var bundledArtifacts = map[string]string{
	"io/grpc/BindableService.class":                       "io.grpc:grpc-api",
	"io/grpc/protobuf/services/HealthStatusManager.class": "io.grpc:grpc-services",
	"io/grpc/services/HealthStatusManager.class":          "io.grpc:grpc-services",
	"io/micronaut/grpc/server/GrpcEmbeddedServer.class":   "io.micronaut.grpc:micronaut-grpc-server-runtime",
}

// analyzeJar analyzes a jar or a war: the artifacts of the build, and the app's own classes.
func analyzeJar(f *tree.File) (*analyzer.Result[extra], error) {
	if otherJar.MatchString(path.Base(f.Path)) {
		return nil, nil
	}
	if dependencyJar.MatchString(f.Path) {
		result := &analyzer.Result[extra]{Built: true}
		addJar(&result.Extra.build, f.Path)
		return result, nil
	}
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return analyzeArchive(f.Path, f, size)
}

// addJar adds the artifact and the version in the file name of an archive. The artifact includes a group from the name:
// io.quarkus:quarkus-grpc for io.quarkus.quarkus-grpc-3.2.0.jar, but grpc-services for grpc-services-1.60.0.jar.
func addJar(b *buildfile.File, file string) {
	name, version := jarName(file)
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		name = name[:dot] + ":" + name[dot+1:]
	}
	b.Artifacts = append(b.Artifacts, name)
	b.SetVersion(name, version)
}

// jarName splits the file name of an archive into name and version, which may be "".
func jarName(file string) (name, version string) {
	name = strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".jar"), ".war")
	version = jarVersion.FindString(name)
	return strings.TrimSuffix(name, version), strings.TrimPrefix(version, "-")
}

// archive is a jar or a war from an untrusted source.
type archive struct {
	entries   []*zip.File
	left      int64  // bytes that may still be unpacked
	path      string // in the app
	mainClass string // with slashes; "" if the manifest names none, or a class of a framework
	isAgent   bool
	// bundled means that the dependencies are unpacked in the jar, beside the app's own classes.
	bundled bool
	// layered means that the jar has a directory for the app's own classes, and another for the jars of dependencies.
	layered bool
	// fromMaven means that the jar states its artifact, like every jar by Maven.
	fromMaven bool
}

// analyzeArchive analyzes a jar by the path in the app and the length in bytes.
func analyzeArchive(file string, r io.ReaderAt, size int64) (*analyzer.Result[extra], error) {
	limited := tree.LimitReaderAt(r, maxDirectory)
	opened, err := zip.NewReader(limited, size)
	if errors.Is(err, tree.ErrLimit) {
		err = fmt.Errorf("a list of entries of more than %d bytes", maxDirectory)
	}
	if err != nil {
		return nil, fmt.Errorf("leaving out the jar: %w", err)
	}
	limited.Reset(tree.MaxProgram) // from here on for the contents of the entries
	a := &archive{entries: opened.File, left: maxUnpacked, path: file}
	result := &analyzer.Result[extra]{Built: true}
	addJar(&result.Extra.build, file)
	if a.survey(&result.Extra.build); a.isApp() {
		err = a.analyze(result)
	}
	return result, err
}

// read returns the contents of an entry, nil if the entry is longer than [tree.MaxSource]. The error reports a damaged
// entry, or an excess of maxUnpacked by all entries together.
func (a *archive) read(e *zip.File) ([]byte, error) {
	if e.UncompressedSize64 > tree.MaxSource {
		return nil, nil
	}
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, tree.MaxSource)) // the header may state a shorter length
	if a.left -= int64(len(text)); a.left < 0 {
		return nil, fmt.Errorf("more than %d bytes come out of it", maxUnpacked)
	}
	return text, err
}

// survey reads the manifest, sets the fields of the archive and adds the artifacts of the build, in one pass over the
// names of entries.
func (a *archive) survey(build *buildfile.File) {
	for _, e := range a.entries {
		switch name := e.Name; {
		case name == "META-INF/MANIFEST.MF":
			text, _ := a.read(e) // a manifest that cannot be read is as good as none
			a.readManifest(string(text))
		case strings.HasPrefix(name, "META-INF/maven/"):
			a.fromMaven = true
		case strings.HasSuffix(name, ".jar") && dependencyJar.MatchString(name):
			addJar(build, name)
		case ownClassesDir.MatchString(name):
			a.layered = true
		case bundledArtifacts[name] != "":
			a.bundled = true
			build.Artifacts = append(build.Artifacts, bundledArtifacts[name])
		}
	}
}

// readManifest reads the class names in the main section of a manifest (JAR File Specification, Notes on Manifest and
// Signature Files). A line that begins with a space continues the line before.
func (a *archive) readManifest(text string) {
	text = strings.NewReplacer("\r\n ", "", "\n ", "", "\r", "").Replace(text)
	section, _, _ := strings.Cut(text, "\n\n")
	for _, m := range manifestHeader.FindAllStringSubmatch(section, -1) {
		class := strings.ReplaceAll(m[2], ".", "/")
		switch {
		case m[1] == "Premain-Class":
			a.isAgent = true
		case !launcher.MatchString(class) && (a.mainClass == "" || m[1] != "Main-Class"):
			a.mainClass = class
		}
	}
}

// analyze adds the settings, the findings of the app's own classes, and the language of the class that makes the
// server. The error names the entry from which the rest of the jar was left out.
func (a *archive) analyze(result *analyzer.Result[extra]) error {
	isOwn := a.ownClasses()
	for _, e := range a.entries {
		name := strings.TrimPrefix(ownClassesDir.ReplaceAllString(e.Name, ""), "META-INF/")
		isClass := path.Ext(name) == ".class" && isOwn(e.Name)
		if !isClass && (!isSettings(name) || len(result.Extra.settings) > maxSettings) {
			continue
		}
		text, err := a.read(e)
		if err != nil {
			return fmt.Errorf("leaving out the rest of the jar from %s: %w", plan.Printable(e.Name), err)
		}
		if !isClass {
			of, _ := readSettings(name, text) // a setting with the key unknown stands for an unread part
			for _, s := range of {
				s.Place = plan.Place{Path: a.path}
				result.Extra.settings = append(result.Extra.settings, s)
			}
		} else if of := analyzeClass(text, name, e.Name+": "); of != nil {
			makesServer := finding.Has[finding.Server](of.Findings) && !finding.Has[finding.Server](result.Findings)
			if len(result.Findings) == 0 || makesServer {
				result.Language = of.Language
			}
			result.Findings = append(result.Findings, of.Findings...)
		}
	}
	return nil
}

// isApp reports whether the jar is the app's own and no dependency or tool. In a directory of libraries, a jar with a
// main class is the app's own. Jars of programs that a script starts name no main class; such a jar is the app's own
// if the contents state no artifact, and the name has no version or is the name of the program's directory.
func (a *archive) isApp() bool {
	switch {
	case a.isAgent:
		return false
	case a.layered, !libraryDir.MatchString(a.path), toolOutput.MatchString(a.path), a.mainClass != "":
		return true
	}
	name, version := jarName(a.path)
	program, _ := jarName(path.Dir(path.Dir(a.path)))
	return !a.fromMaven && (version == "" || name == program)
}

// ownClasses returns a function that reports whether an entry is one of the app's own classes. In a jar with unpacked
// dependencies, the app's classes lie below the home package of the main class, or below the full package of a main
// class with a library's prefix, as in io/grpc/examples/. Without a main class, all classes outside of known libraries
// are the app's own.
func (a *archive) ownClasses() func(entry string) bool {
	if a.layered {
		return ownClassesDir.MatchString
	}
	home := homePackage.FindString(a.mainClass)
	if libraryClass.MatchString(a.mainClass) {
		home = path.Dir(a.mainClass) + "/"
	}
	return func(entry string) bool {
		return home != "" && strings.HasPrefix(entry, home) ||
			!(a.bundled && home != "") && !libraryClass.MatchString(entry)
	}
}
