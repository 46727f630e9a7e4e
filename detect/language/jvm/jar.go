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
	// maxDirectory is the longest list of entries that is read, in bytes. The largest jars have 100,000 entries, with
	// about 100 bytes for each.
	maxDirectory = 16 << 20
	// maxUnpacked is how many bytes the entries that are read of one archive may have when they are unpacked. The
	// classes of an app have a few MiB. [tree.MaxProgram] bounds the packed bytes, and [tree.MaxSource] each entry.
	maxUnpacked = 128 << 20
	// maxSettings is how many settings in a jar are kept.
	maxSettings = 10_000
)

var (
	// otherJar is a jar that starts nothing, or a part of another one beside it: sources, documentation and tests, what
	// the shade plugin of Maven keeps of the jar before it adds the dependencies, and what the plugin of Spring Boot
	// for Gradle makes beside its own jar.
	otherJar = lazyregexp.New(`-(sources|javadoc|tests?|test-fixtures|plain)\.jar$|^original-`)
	// dependencyJar is a jar that is not the app's own, by its directory in the layouts of Spring Boot, wars, Quarkus
	// and Maven repositories. Its name still tells the framework of the app.
	dependencyJar = lazyregexp.New(
		`(^|/)((BOOT-INF|WEB-INF)/lib(-provided)?|quarkus-app/(lib|quarkus)|lib/(main|boot)|repository)/`)
	// libraryDir is where distributions and builds keep jars, those of dependencies or the app's own.
	libraryDir = lazyregexp.New(`(^|/)(?:lib|libs|jars|dependency|dependencies|ext|plugins|third[-_]?party)/[^/]+$`)
	// toolOutput is a jar of the app by its path alone: Gradle writes it there, Play moves the settings out of it, and
	// the organization in sbt is "default" if the app names none.
	toolOutput = lazyregexp.New(`(^|/)build/libs/[^/]+$|-sans-externalized\.jar$|(^|/)default\.[^/]+$`)
	// jarVersion is the end of the name of an archive that has a version.
	jarVersion    = lazyregexp.New(`-v?\d[\w.+-]*$`)
	ownClassesDir = lazyregexp.New(`^(?:BOOT-INF|WEB-INF)/classes/`)
	// manifestHeader names a class in a manifest, and launcher begins the name of one by which a framework starts an
	// app.
	manifestHeader = lazyregexp.New(`(?m)^(Start-Class|Main-Verticle|Main-Class|Premain-Class): *(\S+)`)
	launcher       = lazyregexp.New(`^(?:io/vertx/(?:core|launcher)|io/ktor/server|io/quarkus/(?:bootstrap|runner)|` +
		`io/helidon/(?:Main|microprofile)|org/springframework/boot/loader|play/core/server)\b`)
	// homePackage is the package that a main class shares with the other classes of an app: com/example/, and
	// io/github/someone/.
	homePackage = lazyregexp.New(
		`^(?:\w+/(?:github|gitlab|gitee|bitbucket|sourceforge)/[^/]+/|[^/]+/(?:[^/]+/)?)`)
)

// bundledArtifacts are classes that prove that a library is unpacked in a jar, with its artifact.
var bundledArtifacts = map[string]string{
	"io/grpc/BindableService.class":                       "io.grpc:grpc-api",
	"io/grpc/protobuf/services/HealthStatusManager.class": "io.grpc:grpc-services",
	"io/grpc/services/HealthStatusManager.class":          "io.grpc:grpc-services",
	"io/micronaut/grpc/server/GrpcEmbeddedServer.class":   "io.micronaut.grpc:micronaut-grpc-server-runtime",
}

// analyzeJar analyzes a jar or a war: which artifacts the app is built with, and the classes that are the app's own.
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

// addJar adds the artifact that the file name of an archive names, with its version. It is group:artifact if the name
// has both: io.quarkus:quarkus-grpc for io.quarkus.quarkus-grpc-3.2.0.jar, grpc-services for grpc-services-1.60.0.jar.
func addJar(b *buildfile.File, file string) {
	name, version := jarName(file)
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		name = name[:dot] + ":" + name[dot+1:]
	}
	b.Artifacts = append(b.Artifacts, name)
	b.SetVersion(name, version)
}

// jarName returns the name of an archive without its version, and that, which is "" for none.
func jarName(file string) (name, version string) {
	name = strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".jar"), ".war")
	version = jarVersion.FindString(name)
	return strings.TrimSuffix(name, version), strings.TrimPrefix(version, "-")
}

// archive is a jar or a war of the app, which may be anybody's.
type archive struct {
	entries   []*zip.File
	left      int64  // how many bytes may still be unpacked
	path      string // in the app
	mainClass string // that the jar starts, with slashes; "" if the manifest names none, or one of a framework
	isAgent   bool
	// bundled says that the dependencies of the app are unpacked in the jar, beside the app's own classes.
	bundled bool
	// layered says that the app's own classes lie in a directory of the jar, and its dependencies as jars in another.
	layered bool
	// fromMaven says that the jar states which artifact it is, as all do that Maven makes.
	fromMaven bool
}

// analyzeArchive analyzes a jar with a path in the app and a length in bytes.
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

// read returns the contents of an entry. They are nil if the entry is longer than [tree.MaxSource]. The error is about
// a damaged entry, or says that all entries together are too long.
func (a *archive) read(e *zip.File) ([]byte, error) {
	if e.UncompressedSize64 > tree.MaxSource {
		return nil, nil
	}
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, tree.MaxSource)) // it may be longer than its header says
	if a.left -= int64(len(text)); a.left < 0 {
		return nil, fmt.Errorf("more than %d bytes come out of it", maxUnpacked)
	}
	return text, err
}

// survey looks at the names of all entries once. It reads the manifest, sets the fields of the archive and adds the
// artifacts that the app is built with.
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

// readManifest reads which classes the main section of a manifest names (JAR File Specification, Notes on Manifest and
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

// analyze adds what the settings files and the app's own classes say, and the language of the class that makes the
// server. The error says from which entry on the jar was left out.
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
			of, _ := readSettings(name, text) // the settings say that a part of a file could not be read
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

// isApp reports whether the jar is the app's own and no dependency or tool. A jar among others is the app's own if it
// names a main class. The jars of programs that a script starts name none; such a jar is the app's own if neither its
// name has a version nor its contents say which artifact it is, or if it is named like the directory of the whole
// program.
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

// ownClasses returns a function that reports whether an entry is one of the app's own classes. Where the dependencies
// are unpacked in the jar, the app's own are those in the packages of the main class, or in its own package if that is
// one of a library, as in io/grpc/examples/. Where the manifest names no main class, they are all that are in no known
// library.
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
