package buildfile

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

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
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return asASCII{in}, nil }
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

// asASCII reads a text of an encoding that has ASCII in it, with a question mark for each byte that is none: the names
// that are read of a pom.xml are ASCII, and the decoder takes nothing but UTF-8.
type asASCII struct{ io.Reader }

// Read implements io.Reader.
func (r asASCII) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	for i, c := range b[:n] {
		if c >= utf8.RuneSelf {
			b[i] = '?'
		}
	}
	return n, err
}
