package jvm

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// project is a project of Maven, Gradle or sbt.
type project = analyzer.Project[extra]

// build is what a project is built and configured with. That includes what other projects of the tree give it.
type build struct {
	artifacts    []string         // those that decide about a server
	settings     settings         // with those of the projects that it is built with
	stated       []setting        // those of its own files
	files        []buildfile.File // with those of scripts and plugins that it applies
	around       []*build         // those above it, those that it is built with, and those that are built with it
	hasLibraries bool             // the artifacts are those of a built app, and there are no others
	needs        []string         // the names of projects and plugins that it is built with
	uses         []*project       // the projects of the tree that it is built with
}

// newBuild puts together what the files of a project tell. catalog has the artifacts that aliases stand for.
func newBuild(p *project, catalog map[string][]string) *build {
	b := &build{}
	var copied []setting
	for _, f := range p.Files {
		if outputDir.MatchString(f.Path) {
			copied = append(copied, f.Extra.settings...)
		} else {
			b.stated = append(b.stated, f.Extra.settings...)
		}
		declared := f.Extra.build
		b.hasLibraries = b.hasLibraries ||
			f.Built && (len(declared.Artifacts) > 1 || dependencyJar.MatchString(f.Path))
		declared.Artifacts = slices.Clip(declared.Artifacts)
		for _, alias := range declared.Aliases {
			declared.Artifacts = append(declared.Artifacts, catalog[strings.TrimSuffix(alias, ".get")]...)
		}
		b.files = append(b.files, declared)
		b.include(declared)
	}
	if len(b.stated) == 0 {
		b.stated = copied
	}
	return b
}

// include adds what a build file declares for the project.
func (b *build) include(f buildfile.File) {
	b.add(f.Artifacts)
	b.needs = append(b.needs, f.Needs...)
}

// maxArtifacts is how many artifacts of one build are kept. Real builds have a few that are relevant.
const maxArtifacts = 64

// add keeps the artifacts that decide about a server, each of them once.
func (b *build) add(artifacts []string) {
	for _, a := range artifacts {
		isRelevant := grpcServices.MatchString(a) || servletServer.MatchString(a) || handlerGenerator.MatchString(a) ||
			starterOf([]string{a}) != ""
		if isRelevant && len(b.artifacts) < maxArtifacts && !slices.Contains(b.artifacts, a) {
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

// starters are the artifacts of frameworks that make a server of the generated XImplBase that an app implements. Most
// of them register grpc.health.v1 as well.
var starters = []struct {
	artifact  *lazyregexp.Regexp
	framework string
}{
	{artifactNamed(`spring-boot-starter-grpc-server|spring-grpc(?:-server(?:-web)?)?-spring-boot-starter|` +
		`spring-boot-grpc-server|spring-grpc-(?:server-)?spring-boot-autoconfigure`), springGRPC},
	{lazyregexp.New(`^net\.devh:grpc-(?:server-)?spring-boot-|^grpc-server-spring-boot-`), netDevh},
	{lazyregexp.New(`lognet:grpc-spring-boot-starter|^grpc-spring-boot-starter\b|` +
		`^io\.github\.lognet\.grpc-spring-boot$`), logNet},
	{artifactNamed(`grpc-(?:server-)?boot-starter|grpc-server-boot-autoconfigure`), grpcStarter},
	{artifactNamed(`micronaut-grpc-(?:server-)?runtime`), micronaut},
	{artifactNamed(`quarkus-grpc`), quarkus},
}

var (
	// grpcServices has HealthStatusManager. The other two depend on it (grpc-java: all/build.gradle, xds/build.gradle).
	grpcServices = artifactNamed(`grpc-services|grpc-all|grpc-xds`)
	// servletServer lets the web server serve gRPC.
	servletServer = artifactNamed(`grpc-servlet(?:-jakarta)?|spring-grpc-server-web-spring-boot-starter`)
	// handlerGenerator is a plugin of sbt, Gradle or Maven that generates handlers and routers.
	handlerGenerator = lazyregexp.New(`(?:akka|pekko)[.-]grpc|(?:^|[:.])play-grpc|sbt-(?:akka|pekko)-grpc`)
)

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

// states yields what the build files state that say something about this project, the nearest first.
func (b *build) states() []buildfile.File {
	all := slices.Clone(b.files)
	for _, of := range b.around {
		all = append(all, of.files...)
	}
	return all
}

// leavesOut reports whether the build leaves a library out of what its dependencies bring with them.
func (b *build) leavesOut(library *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(b.states(), func(f buildfile.File) bool {
		return slices.Contains(f.Excluded, "*") || slices.ContainsFunc(f.Excluded, library.MatchString)
	})
}
