package detect

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxInflated is how many bytes the read entries of a jar may come to, beside what bounds.go says of programs and, for each
// entry, of sources. An app's own classes are a few MiB.
const maxInflated = 128 << 20

// jvmJarFile is a jar while it is read.
type jvmJarFile struct {
	path     string // in the app
	entries  []*zip.File
	inflated int64 // bytes that may still come out of it
	manifest map[string]string
	fat      bool // it holds the app's dependencies too, unpacked
	maven    bool // it says which artifact it is, as all do that Maven makes
	layers   bool // it holds the app's own classes in a folder, and its dependencies as jars in another
}

// jvmLeftOut are jars that run nothing, or what another beside them runs: sources, documentation and tests; what Maven's
// shade plug-in keeps of the jar that it adds dependencies to, and what Spring Boot's plug-in for Gradle makes beside its own.
var jvmLeftOut = regexp.MustCompile(`-(sources|javadoc|tests?|test-fixtures|plain)\.jar$|^original-`)

// jvmJar reads a jar or a war: what it is built with, and what the classes say that are the app's own.
func jvmJar(f *file) (*sheet, error) {
	base := path.Base(f.path)
	if jvmLeftOut.MatchString(base) {
		return nil, nil
	}
	if jvmDependencies.MatchString(f.path) {
		return &sheet{built: true, own: jvmSays{artifacts: []string{jvmJarName(base)}}}, nil
	}
	if err := f.open(); err != nil {
		return nil, err
	}
	return jvmReadJar(f.path, f, f.size)
}

// jvmReadJar reads any bytes. The path is its path in the app.
func jvmReadJar(p string, r io.ReaderAt, size int64) (*sheet, error) {
	entries, err := jvmEntries(r, size)
	if err != nil {
		return nil, fmt.Errorf("leaving out the jar: %w", err)
	}
	j := &jvmJarFile{path: p, entries: entries, inflated: maxInflated}
	said := &sheet{built: true}
	says := jvmSays{artifacts: []string{jvmJarName(path.Base(p))}}
	says.artifacts = append(says.artifacts, j.survey()...)
	if j.apps() {
		says.settings, says.profiles = j.settings()
		said.signs, says.language, err = j.signs()
	}
	said.own = says
	return said, err
}

// jvmPacked are classes by which a jar is known to hold a library unpacked, and that library's artifact.
var jvmPacked = map[string]string{
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

var (
	jvmMavenEntry = regexp.MustCompile(`^META-INF/maven/([^/]+)/([^/]+)/pom\.(?:properties|xml)$`)
	jvmLayer      = regexp.MustCompile(`^(?:BOOT-INF|WEB-INF)/classes/`)
)

// survey goes through the names once, reads the manifest and returns the artifacts that the jar is built with.
func (j *jvmJarFile) survey() []string {
	var artifacts []string
	for _, e := range j.entries {
		switch name := e.Name; {
		case name == "META-INF/MANIFEST.MF":
			text, _ := j.read(e)
			j.manifest = jvmManifest(text)
		case strings.HasPrefix(name, "META-INF/maven/"):
			if m := jvmMavenEntry.FindStringSubmatch(name); m != nil {
				j.maven = true
				artifacts = append(artifacts, m[1]+":"+m[2])
			}
		case strings.HasSuffix(name, ".jar") && jvmDependencies.MatchString(name):
			artifacts = append(artifacts, jvmJarName(path.Base(name)))
		case jvmLayer.MatchString(name):
			j.layers = true
		case name == "io/grpc/BindableService.class":
			j.fat = true
		default:
			if artifact := jvmPacked[name]; artifact != "" {
				artifacts = append(artifacts, artifact)
			}
		}
	}
	slices.Sort(artifacts)
	return slices.Compact(artifacts)
}

// read returns what an entry holds; nil where it is too long to be of use.
func (j *jvmJarFile) read(e *zip.File) ([]byte, error) {
	if e.UncompressedSize64 > maxSourceBytes {
		return nil, nil
	}
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// An entry may be longer than its header says.
	text, err := io.ReadAll(io.LimitReader(r, maxSourceBytes))
	if j.inflated -= int64(len(text)); j.inflated < 0 {
		return nil, fmt.Errorf("more than %d bytes come out of it", maxInflated)
	}
	return text, err
}

// settings returns what the settings files say that the jar holds, the first of jvmSettingsNames before the others, and
// what they say for one profile.
func (j *jvmJarFile) settings() (all, profiles jvmSettings) {
	files := map[string]*zip.File{}
	for _, e := range j.entries {
		name := strings.TrimPrefix(jvmLayer.ReplaceAllString(e.Name, ""), "META-INF/")
		if slices.Contains(jvmSettingsNames, name) {
			files[name] = e
		}
	}
	all, profiles = jvmSettings{}, jvmSettings{}
	for _, name := range slices.Backward(jvmSettingsNames) {
		if files[name] == nil {
			continue
		}
		text, err := j.read(files[name])
		if err != nil {
			continue
		}
		// What is wrong with a file of settings is among what it says.
		if said, _ := jvmText(name, text); said != nil {
			says, _ := said.own.(jvmSays)
			maps.Copy(all, says.settings)
			maps.Copy(profiles, says.profiles)
		}
	}
	return all, profiles
}

// signs returns what the app's own classes say, and the language of those that lead.
func (j *jvmJarFile) signs() (signs []sign, language string, err error) {
	own, lead := j.own(), false
	for _, e := range j.entries {
		if path.Ext(e.Name) != ".class" || !own(e.Name) {
			continue
		}
		text, err := j.read(e)
		if err != nil {
			return signs, language, fmt.Errorf("leaving out the rest of the jar from %s: %w", printable(e.Name), err)
		}
		said := jvmClassSheet(text)
		if said == nil {
			continue
		}
		for _, s := range said.signs {
			if leads := s.kind == constructs; leads && !lead || len(signs) == 0 {
				language, lead = said.own.(jvmSays).language, leads
			}
			if s.what != "" {
				s.what = e.Name + ": " + s.what
			}
			signs = append(signs, s)
		}
	}
	return signs, language, nil
}
