package detect

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

// dotnetProject is what a project file says.
type dotnetProject struct {
	test    bool // its sources are tests
	library bool // it is no program
}

// dotnetTestPackages make a project one of tests (learn.microsoft.com, "Unit testing in .NET").
var dotnetTestPackages = []string{"microsoft.net.test.sdk", "xunit", "xunit.v3", "nunit", "mstest", "mstest.testframework", "tunit"}

// dotnetProjectFile reads a project file of MSBuild.
func dotnetProjectFile(text []byte) (*sheet, error) {
	var project struct {
		SDK        string                                       `xml:"Sdk,attr"`
		Properties []struct{ IsTestProject, OutputType string } `xml:"PropertyGroup"`
		Items      []struct {
			Packages []struct {
				Name string `xml:"Include,attr"`
			} `xml:"PackageReference"`
		} `xml:"ItemGroup"`
	}
	reader := xml.NewDecoder(bytes.NewReader(trimBOM(text)))
	reader.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	if err := reader.Decode(&project); err != nil {
		return &sheet{root: true, own: dotnetProject{}}, fmt.Errorf("reading a project file: %w", err)
	}
	sdk, _, _ := strings.Cut(project.SDK, "/")
	// Only this SDK makes libraries unless told otherwise.
	said := dotnetProject{library: sdk == "Microsoft.NET.Sdk", test: sdk == "MSTest.Sdk"}
	for _, p := range project.Properties {
		said.test = said.test || strings.EqualFold(strings.TrimSpace(p.IsTestProject), "true")
		if kind := strings.TrimSpace(p.OutputType); kind != "" {
			said.library = strings.EqualFold(kind, "Library")
		}
	}
	for _, items := range project.Items {
		for _, p := range items.Packages {
			said.test = said.test || slices.Contains(dotnetTestPackages, strings.ToLower(p.Name))
		}
	}
	return &sheet{root: true, own: said}, nil
}

func trimBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }
