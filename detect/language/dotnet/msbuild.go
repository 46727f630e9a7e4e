package dotnet

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// msbuildProject is the content of a project file of MSBuild. The zero value is a program.
type msbuildProject struct {
	isTest    bool
	isLibrary bool
	// references are the paths of referenced project files, relative to the folder of the project.
	references []string
}

// isTestPackage reports whether only test projects need a package (learn.microsoft.com, "Unit testing in .NET").
func isTestPackage(name string) bool {
	return slices.Contains([]string{
		"microsoft.net.test.sdk", "microsoft.testplatform.testhost", "xunit", "xunit.core", "xunit.v3", "xunit.v3.core",
		"nunit", "mstest", "mstest.testframework", "tunit",
	}, strings.ToLower(name))
}

// analyzeProject reads a project file. An unreadable file stands for a program, and an error comes with the result.
func analyzeProject(text []byte) (*analyzer.Result[extra], error) {
	var file struct {
		SDK        string                                       `xml:"Sdk,attr"`
		Properties []struct{ IsTestProject, OutputType string } `xml:"PropertyGroup"`
		Items      []struct {
			Packages []struct {
				Name string `xml:"Include,attr"`
			} `xml:"PackageReference"`
			Projects []struct {
				Path string `xml:"Include,attr"`
			} `xml:"ProjectReference"`
		} `xml:"ItemGroup"`
	}
	result := &analyzer.Result[extra]{ProjectRoot: true}
	project := &result.Extra.project
	reader := xml.NewDecoder(bytes.NewReader(source.TrimBOM(text)))
	reader.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	if err := reader.Decode(&file); err != nil {
		return result, fmt.Errorf("reading a project file: %w", err)
	}
	sdk, _, _ := strings.Cut(file.SDK, "/")
	// Only projects of this SDK are libraries unless a property says otherwise.
	project.isLibrary = sdk == "Microsoft.NET.Sdk"
	project.isTest = sdk == "MSTest.Sdk"
	for _, p := range file.Properties {
		project.isTest = project.isTest || strings.EqualFold(strings.TrimSpace(p.IsTestProject), "true")
		if output := strings.TrimSpace(p.OutputType); output != "" {
			project.isLibrary = strings.EqualFold(output, "Library")
		}
	}
	for _, items := range file.Items {
		for _, p := range items.Packages {
			project.isTest = project.isTest || isTestPackage(p.Name)
		}
		for _, p := range items.Projects {
			project.references = append(project.references, strings.ReplaceAll(p.Path, `\`, "/"))
		}
	}
	return result, nil
}
