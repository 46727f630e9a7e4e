package buildfile

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// mavenArtifact is a dependency, a plugin or a parent in a pom.xml.
type mavenArtifact struct {
	Group      string          `xml:"groupId"`
	Name       string          `xml:"artifactId"`
	Version    string          `xml:"version"`
	Scope      string          `xml:"scope"`
	Exclusions []mavenArtifact `xml:"exclusions>exclusion"`
}

func (a mavenArtifact) String() string {
	return strings.TrimSpace(a.Group) + ":" + strings.TrimSpace(a.Name)
}

type pom struct {
	Name         string          `xml:"artifactId"`
	Packaging    string          `xml:"packaging"`
	Parent       mavenArtifact   `xml:"parent"`
	Dependencies []mavenArtifact `xml:"dependencies>dependency"`
	Managed      []mavenArtifact `xml:"dependencyManagement>dependencies>dependency"`
	Plugins      []mavenArtifact `xml:"build>plugins>plugin"`
	Properties   struct {
		All []struct {
			XMLName xml.Name
			Value   string `xml:",chardata"`
		} `xml:",any"`
	} `xml:"properties"`
}

// readPOM reads the build file of Maven, pom.xml. Without valid XML, the result is an error and still the root of a
// project. The encoding does not matter, because the names are ASCII.
func readPOM(text []byte) (File, error) {
	var p pom
	decoder := xml.NewDecoder(bytes.NewReader(bytes.ToValidUTF8(source.TrimBOM(text), []byte("?"))))
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	if err := decoder.Decode(&p); err != nil {
		return File{Root: true}, fmt.Errorf("reading a pom.xml: %w", err)
	}
	f := File{Root: true, Name: strings.TrimSpace(p.Name), ForSubprojects: strings.TrimSpace(p.Packaging) == "pom"}
	for _, property := range p.Properties.All {
		f.SetVersion(property.XMLName.Local, strings.TrimSpace(property.Value))
	}
	f.SetVersion(p.Parent.String(), strings.TrimSpace(p.Parent.Version))
	for _, a := range append(p.Managed, append(p.Dependencies, p.Plugins...)...) {
		f.SetVersion(a.String(), strings.TrimSpace(a.Version))
		for _, excluded := range a.Exclusions {
			f.Excluded = append(f.Excluded, strings.TrimSpace(excluded.Name))
		}
	}
	for _, a := range append(p.Dependencies, p.Plugins...) {
		if strings.TrimSpace(a.Scope) != "test" {
			f.Artifacts, f.Needs = append(f.Artifacts, a.String()), append(f.Needs, strings.TrimSpace(a.Name))
		}
	}
	return f, nil
}

var (
	// sbtDependency is "group" %% "artifact" % "version", for tests or not.
	sbtDependency = lazyregexp.New(`"(?P<group>[ ]+)"\s*%{1,3}\s*"(?P<name>[ ]+)"(?:\s*%\s*"(?P<version>[ ]+)")?[^\n]*`)
	sbtTestScope  = lazyregexp.New(`%\s*(?:Test|IntegrationTest|"[^"]*\btest")`)
	sbtExclusion  = lazyregexp.New(`\bexclude\s*\(\s*"[ ]+"\s*,\s*"(?P<name>[ ]+)"`)
	// sbtPlugin is the object of an Akka gRPC or Pekko gRPC plugin that a project turns on.
	sbtPlugin = lazyregexp.New(`\b(?P<name>Akka|Pekko)GrpcPlugin\b`)
)

// readSbt reads a file of sbt: build.sbt, plugins.sbt, and the Scala sources in the directory project.
func readSbt(file string, t *source.Text) File {
	f := File{Root: path.Base(file) == "build.sbt", ForSubprojects: true, Excluded: t.Names(sbtExclusion)}
	for _, m := range t.FindAll(sbtDependency, -1) {
		group, _ := t.Group(sbtDependency, m, "group")
		name, _ := t.Group(sbtDependency, m, "name")
		version, _ := t.Group(sbtDependency, m, "version")
		f.SetVersion(group+":"+name, version)
		if !sbtTestScope.Match(t.Raw[m[0]:m[1]]) {
			f.Artifacts = append(f.Artifacts, group+":"+name)
		}
	}
	for _, name := range t.Names(sbtPlugin) {
		f.Artifacts = append(f.Artifacts, "sbt-"+strings.ToLower(name)+"-grpc")
	}
	return f
}
