package buildfile

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
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

// pom is what is read of a pom.xml.
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

// ReadPOM reads the build file of Maven, pom.xml. A file that is no XML is an error and still the root of a project.
func ReadPOM(text []byte) (File, error) {
	var p pom
	decoder := xml.NewDecoder(bytes.NewReader(source.TrimBOM(text)))
	// The names that are read are ASCII in every encoding that a pom.xml may have.
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	if err := decoder.Decode(&p); err != nil {
		return File{Root: true}, fmt.Errorf("reading a pom.xml: %w", err)
	}
	f := File{Root: true, Name: strings.TrimSpace(p.Name), ForSubprojects: strings.TrimSpace(p.Packaging) == "pom"}
	for _, property := range p.Properties.All {
		f.setProperty(property.XMLName.Local, strings.TrimSpace(property.Value))
	}
	for _, a := range append([]mavenArtifact{p.Parent}, p.Managed...) {
		f.SetVersion(a.String(), strings.TrimSpace(a.Version))
	}
	for _, a := range append(p.Dependencies, p.Plugins...) {
		if strings.TrimSpace(a.Scope) == "test" {
			continue
		}
		f.Artifacts, f.Needs = append(f.Artifacts, a.String()), append(f.Needs, strings.TrimSpace(a.Name))
		f.SetVersion(a.String(), strings.TrimSpace(a.Version))
	}
	for _, a := range append(p.Dependencies, p.Managed...) {
		for _, excluded := range a.Exclusions {
			f.exclude(a.String(), excluded.String())
		}
	}
	return f, nil
}
