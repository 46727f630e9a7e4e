package jvm

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// project is a project of Maven, Gradle or sbt.
type project = analyzer.Project[extra]

// build is what a project is built and configured with. That includes what other projects of the tree give it.
type build struct {
	artifacts       []string // those that decide about a server
	settings        settings
	profileSettings settings       // settings that are in force in some profiles only
	ownSettings     settings       // settings that no framework reads
	otherSettings   settings       // settings that a framework reads only if the app says so
	files           []fileSettings // what frameworks read
	confs           []fileSettings // files in HOCON, those of the projects that it is built with too
	settingsNames   []string       // the names of its settings files
	loads           []string       // the settings in HOCON that sources load
	codeSettings    settings       // keys that sources set
	declared        versions
	around          []*build   // those above the project, and those that are built with it
	hasLibraries    bool       // the artifacts are those of a built app, and there are no others
	needs           []string   // the names of projects and plugins that it is built with
	uses            []*project // the projects of the tree that it is built with
	forSubprojects  []string   // the artifacts of the projects below
	subprojectsNeed []string   // needs of the projects below
	processes       procfile.Processes
	healthClasses   map[string]bool // those of all projects
	healthDeclared  map[string]bool // classes and functions of the app that are named for health
	healthMentioned map[string]bool // classes named for health that sources use
	givesServices   bool            // the app makes the server, and gives it each service by its name
	healthFolders   analyzer.HealthFolders
	hasHealth       bool            // the project, or one that it is built with, registers the health service
	exempt          map[string]bool // the classes of interceptors that exempt the health service
	secured         bool            // a source of any project says what secures a server
}

// newBuild puts together what the files of a project tell. catalog has the artifacts that aliases stand for.
func newBuild(p *project, catalog map[string][]string) *build {
	b := &build{}
	for _, f := range p.Files {
		for _, s := range f.Extra.settings {
			b.settingsNames = append(b.settingsNames, path.Base(s.name))
			if path.Ext(s.name) == ".conf" {
				b.confs = append(b.confs, s)
			}
			switch name := path.Base(s.name); {
			case s.name == "":
				b.codeSettings.merge(s.always)
				b.otherSettings.merge(s.always)
			case path.Ext(name) == ".conf" && !isSettings(name):
			case ownSettings.MatchString(name):
				b.ownSettings.merge(s.always)
				b.otherSettings.merge(s.always)
			case isOtherSettings(s.name):
				b.otherSettings.merge(s.always)
			default:
				s.isOutput = outputDir.MatchString(strings.TrimPrefix(f.Path, p.Dir+"/"))
				b.files = append(b.files, s)
			}
		}
		b.loads = append(b.loads, f.Extra.loads...)
		declared := f.Extra.build
		b.declared.add(declared)
		b.hasLibraries = b.hasLibraries ||
			f.Built && (len(declared.Artifacts) > 1 || dependencyJar.MatchString(f.Path))
		artifacts := slices.Clone(declared.Artifacts)
		for _, alias := range declared.Aliases {
			artifacts = append(artifacts, catalog[alias]...)
			artifacts = append(artifacts, catalog[strings.TrimSuffix(alias, ".get")]...)
		}
		b.add(artifacts)
		b.needs = append(b.needs, declared.Needs...)
		if declared.ForSubprojects {
			b.forSubprojects = append(b.forSubprojects, artifacts...)
			b.subprojectsNeed = append(b.subprojectsNeed, declared.Needs...)
		}
	}
	written := slices.DeleteFunc(slices.Clone(b.files), func(f fileSettings) bool { return f.isOutput })
	if len(written) > 0 {
		b.files = written // copies may be old
	}
	b.forSubprojects = slices.DeleteFunc(b.forSubprojects, func(a string) bool { return !isRelevant(a) })
	return b
}

// maxArtifacts is how many artifacts of one build are kept. Real builds have a few that are relevant.
const maxArtifacts = 64

// add keeps the relevant artifacts, each of them once.
func (b *build) add(artifacts []string) {
	for _, a := range artifacts {
		if len(b.artifacts) < maxArtifacts && isRelevant(a) && !slices.Contains(b.artifacts, a) {
			b.artifacts = append(b.artifacts, a)
		}
	}
}

func (b *build) has(artifact *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(b.artifacts, artifact.MatchString)
}

// artifactNamed matches an artifact of any group, or a jar of it.
func artifactNamed(names string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?:^|:)(?:` + names + `)(?:$|:|-\d)`)
}

type starter struct {
	artifact  *lazyregexp.Regexp
	framework string
}

// starters are the artifacts of frameworks that make a server of the generated XImplBase that an app implements. Most
// of them register grpc.health.v1 as well.
var starters = []starter{
	{artifactNamed(`spring-boot-starter-grpc-server|spring-grpc(?:-server(?:-web)?)?-spring-boot-starter|` +
		`spring-boot-grpc-server|spring-grpc-(?:server-)?spring-boot-autoconfigure`), springGRPC},
	{lazyregexp.New(`^net\.devh:grpc-(?:server-)?spring-boot-|^grpc-server-spring-boot-`), netDevh},
	{lazyregexp.New(`lognet:grpc-spring-boot-starter|^grpc-spring-boot-starter\b|` +
		`^io\.github\.lognet\.grpc-spring-boot$`), logNet},
	{artifactNamed(`grpc-(?:server-)?boot-starter|grpc-server-boot-autoconfigure`), grpcStarter},
	{artifactNamed(`micronaut-grpc-(?:server-)?runtime`), micronaut},
	{quarkusServer, quarkus},
}

var (
	quarkusServer = artifactNamed(`quarkus-grpc`)
	// grpcServices has HealthStatusManager. The other two depend on it (grpc-java: all/build.gradle, xds/build.gradle).
	grpcServices = artifactNamed(`grpc-services|grpc-all|grpc-xds`)
	// servletServer lets the web server serve gRPC.
	servletServer = artifactNamed(`grpc-servlet(?:-jakarta)?|spring-grpc-server-web-spring-boot-starter`)
	// remoteSettings reads settings from a server, of Spring Cloud, Nacos, Apollo, Azure and AWS. It needs no setting
	// of its own: the server has an address by default.
	remoteSettings = artifactNamed(`spring-cloud-starter-(?:[\w-]+-)?config|spring-cloud-config-client|` +
		`spring-cloud-starter-(?:consul|zookeeper|kubernetes(?:-client|-fabric8)?)-all|` +
		`nacos-config-spring-boot-(?:starter|autoconfigure)|apollo-client(?:-config-data)?|` +
		`spring-cloud-azure-(?:starter-)?appconfiguration-config(?:-web)?|` +
		`spring-cloud-aws-starter-(?:parameter-store|secrets-manager)`)
	// handlerGenerator is a plugin of sbt, Gradle or Maven that generates handlers and routers.
	handlerGenerator = lazyregexp.New(`(?:akka|pekko)[.-]grpc|(?:^|[:.])play-grpc|sbt-(?:akka|pekko)-grpc`)
)

// isRelevant reports whether an artifact decides about a server.
func isRelevant(artifact string) bool {
	return grpcServices.MatchString(artifact) || servletServer.MatchString(artifact) ||
		handlerGenerator.MatchString(artifact) || remoteSettings.MatchString(artifact) ||
		starterOf([]string{artifact}) != ""
}

// starterOf returns the framework that one of the artifacts is the starter of; "" for none.
func starterOf(artifacts []string) string {
	for _, s := range starters {
		if slices.ContainsFunc(artifacts, s.artifact.MatchString) {
			return s.framework
		}
	}
	return ""
}

// needsAnnotation reports whether a framework serves what has its annotation alone
// (AnnotationGrpcServiceDiscoverer.java of net.devh, GRpcServerRunner.java of LogNet). The annotation may be on a
// subclass, or be part of another one, so that what has none is the app's own server's only if there is one.
func needsAnnotation(framework string) bool { return framework == netDevh || framework == logNet }

// isStarter reports whether a framework makes a server of what an app implements.
func isStarter(framework string) bool {
	return slices.ContainsFunc(starters, func(s starter) bool { return s.framework == framework })
}
