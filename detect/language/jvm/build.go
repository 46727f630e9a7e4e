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

// build has the artifacts and the settings of a project, also from other projects of the tree.
type build struct {
	artifacts    []string         // only artifacts that decide about a server
	settings     settings         // also of dependencies and dependents
	stated       []setting        // of the project's own files
	files        []buildfile.File // also of applied scripts and plugins
	around       []*build         // parents, dependencies and dependents, then the catalogs
	hasLibraries bool             // the artifacts are complete, from a built app
	needs        []string         // the names of required projects and plugins
	uses         []*project       // the required projects of the tree
}

// newBuild combines the files of a project. catalog has the artifacts by alias.
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

func (b *build) include(f buildfile.File) {
	b.add(f.Artifacts)
	b.needs = append(b.needs, f.Needs...)
}

// maxArtifacts is how many artifacts of a build are kept. Real builds have few relevant artifacts.
const maxArtifacts = 64

// add keeps the artifacts that decide about a server, without duplicates.
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

// artifactNamed matches an artifact of any group, or the artifact's jar.
func artifactNamed(names string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?:^|:)(?:` + names + `)(?:$|:|-\d)`)
}

// starters are artifacts of frameworks that serve an app's implementations of a generated XImplBase. Most starters
// register grpc.health.v1 as well.
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
	// grpcServices has HealthStatusManager. grpc-all and grpc-xds depend on grpc-services (grpc-java: all/build.gradle,
	// xds/build.gradle).
	grpcServices = artifactNamed(`grpc-services|grpc-all|grpc-xds`)
	// servletServer lets the web server serve gRPC.
	servletServer = artifactNamed(`grpc-servlet(?:-jakarta)?|spring-grpc-server-web-spring-boot-starter`)
	// handlerGenerator is a plugin of sbt, Gradle or Maven that generates handlers and routers.
	handlerGenerator = lazyregexp.New(`(?:akka|pekko)[.-]grpc|(?:^|[:.])play-grpc|sbt-(?:akka|pekko)-grpc`)
)

// starterOf returns the framework of a starter among the artifacts; "" for none.
func starterOf(artifacts []string) string {
	for _, s := range starters {
		if slices.ContainsFunc(artifacts, s.artifact.MatchString) {
			return s.framework
		}
	}
	return ""
}

// needsAnnotation reports whether a framework serves only classes with the framework's annotation
// (AnnotationGrpcServiceDiscoverer.java of net.devh, GRpcServerRunner.java of LogNet). The annotation may be on a
// subclass, or part of another annotation: a class without belongs to a server of the app only if the app makes one.
func needsAnnotation(framework string) bool { return framework == netDevh || framework == logNet }

// states returns the build files that concern the project, the nearest first.
func (b *build) states() []buildfile.File {
	all := slices.Clone(b.files)
	for _, of := range b.around {
		all = append(all, of.files...)
	}
	return all
}

// leavesOut reports whether the build excludes a library from the dependencies of dependencies.
func (b *build) leavesOut(library *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(b.states(), func(f buildfile.File) bool {
		return slices.Contains(f.Excluded, "*") || slices.ContainsFunc(f.Excluded, library.MatchString)
	})
}
