package buildfile

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// sbtDependency is "group" %% "artifact" % "version", with what else its line says.
	sbtDependency = lazyregexp.New(`"(?P<group>[ ]+)"\s*%{1,3}\s*"(?P<name>[ ]+)"[^\n]*`)
	// sbtVersion is "group" %% "artifact" % "version", and sbtExclusion .exclude("group", "artifact").
	sbtVersion = lazyregexp.New(
		`"(?P<group>[ ]+)"\s*%{1,3}\s*"(?P<name>[ ]+)"\s*%\s*"(?P<value>[ ]+)"`)
	sbtExclusion = lazyregexp.New(`\bexclude\s*\(\s*"(?P<group>[ ]+)"\s*,\s*"(?P<name>[ ]+)"`)
	// sbtPlugin is a plugin of Akka gRPC or Pekko gRPC that a project turns on, by the name of its object.
	sbtPlugin    = lazyregexp.New(`\b(?P<name>Akka|Pekko)GrpcPlugin\b`)
	sbtTestScope = lazyregexp.New(`%\s*(?:Test|IntegrationTest|"[^"]*\btest")`)
)

// ReadSbt reads a file of sbt: build.sbt, plugins.sbt, and the Scala sources in the directory project.
func ReadSbt(file string, t *source.Text) File {
	f := File{Root: path.Base(file) == "build.sbt", ForSubprojects: true}
	f.addNamed(t, sbtDependency, slices.DeleteFunc(t.FindAll(sbtDependency, -1), func(m []int) bool {
		return sbtTestScope.Match(t.Raw[m[0]:m[1]])
	}))
	for _, m := range t.FindAll(sbtVersion, -1) {
		group, _ := t.Group(sbtVersion, m, "group")
		name, _ := t.Group(sbtVersion, m, "name")
		value, _ := t.Group(sbtVersion, m, "value")
		f.SetVersion(group+":"+name, value)
	}
	for _, name := range t.Names(sbtPlugin) {
		f.Artifacts = append(f.Artifacts, "sbt-"+strings.ToLower(name)+"-grpc")
	}
	for _, name := range t.Names(sbtExclusion) {
		f.exclude("", ":"+name)
	}
	return f
}
