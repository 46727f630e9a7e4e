package sbom

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/spdx/tools-golang/spdx"

	"github.com/grpc-cnb/health-probe/build/sbom/sbomtest"
)

// compiled has a real program with modules in it, since a test's own binary records none, and its build info.
var compiled = sync.OnceValues(func() (Component, *buildinfo.BuildInfo) {
	dir, err := os.MkdirTemp("", "sbom")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "program")
	if output, err := exec.Command("go", "build", "-o", file,
		"../../cmd/grpc_health_probe_full").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("compiling: %v\n%s", err, output))
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		panic(err)
	}
	program := GoProgram(info, info.Main.Version)
	program.Name, program.Source, program.Origin = "grpc_health_probe", "bundled", "https://example.com/probe"
	if program.SHA256, err = FileSHA256(file); err != nil {
		panic(err)
	}
	return program, info
})

// wantPURLs returns the package URLs that each format has to list for the compiled program.
func wantPURLs() []string {
	program, info := compiled()
	purls := []string{
		GoModule(info.Main.Path, program.Version).PURL,
		"pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go"),
	}
	for _, dep := range info.Deps {
		purls = append(purls, "pkg:golang/"+dep.Path+"@"+dep.Version)
	}
	slices.Sort(purls)
	return purls
}

func encoded(t *testing.T, encode func(io.Writer, Component) error, content Component) *bytes.Buffer {
	t.Helper()
	var first, second bytes.Buffer
	for _, buffer := range []*bytes.Buffer{&first, &second} {
		if err := encode(buffer, content); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("encoding twice gives different bytes")
	}
	return &first
}

func cycloneDXDocument(t *testing.T, content Component) *cyclonedx.BOM {
	t.Helper()
	bom, err := sbomtest.CycloneDX(encoded(t, encodeCycloneDX, content).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return bom
}

func spdxDocument(t *testing.T, content Component) *spdx.Document {
	t.Helper()
	document, err := sbomtest.SPDX(encoded(t, encodeSPDX, content).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func comparePURLs(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("listed: %q\nwant: %q", got, want)
	}
}

func TestCycloneDXDocumentListsWhatIsLinked(t *testing.T) {
	t.Parallel()
	program, _ := compiled()
	bom := cycloneDXDocument(t, program)
	described := bom.Metadata.Component
	purls := []string{described.PackageURL}
	for _, component := range *bom.Components {
		purls = append(purls, component.PackageURL)
	}
	comparePURLs(t, purls, wantPURLs())
	if hash := (*described.Hashes)[0]; hash.Value != program.SHA256 {
		t.Errorf("digest is %q, want %q", hash.Value, program.SHA256)
	}
	if dependsOn := (*bom.Dependencies)[0].Dependencies; len(*dependsOn) != len(*bom.Components) {
		t.Errorf("the program depends on %d of %d components", len(*dependsOn), len(*bom.Components))
	}
	if url := (*described.ExternalReferences)[0].URL; url != program.Origin {
		t.Errorf("it came from %q, want %q", url, program.Origin)
	}
	if id := (*described.Licenses)[0].License.ID; id != "Apache-2.0" {
		t.Errorf("its licence is %q", id)
	}
}

func TestSPDXDocumentListsWhatIsLinked(t *testing.T) {
	t.Parallel()
	program, _ := compiled()
	document := spdxDocument(t, program)
	var purls []string
	for _, p := range document.Packages {
		purls = append(purls, p.PackageExternalReferences[0].Locator)
	}
	comparePURLs(t, purls, wantPURLs())
	if digest := document.Packages[0].PackageChecksums[0].Value; digest != program.SHA256 {
		t.Errorf("digest is %q, want %q", digest, program.SHA256)
	}
	if len(document.Relationships) != len(document.Packages) {
		t.Errorf("%d relationships for %d packages", len(document.Relationships), len(document.Packages))
	}
	if described := document.Packages[0]; described.PackageDownloadLocation != program.Origin ||
		described.PackageLicenseDeclared != "Apache-2.0" {
		t.Errorf("it came from %q under %q", described.PackageDownloadLocation, described.PackageLicenseDeclared)
	}
}

// syftParts are the parts of a document that the tests read.
type syftParts struct {
	Artifacts []struct {
		PURL     string
		Licenses []string
	}
	Files      []struct{ Digests []struct{ Value string } }
	Descriptor struct {
		Configuration struct {
			URL    string
			Assets []struct{ Name, URL string }
		}
	}
}

func syftDocumentOf(t *testing.T, content Component) (document syftParts) {
	t.Helper()
	if err := json.NewDecoder(encoded(t, encodeSyft, content)).Decode(&document); err != nil {
		t.Fatal(err)
	}
	return document
}

func TestSyftDocumentListsWhatIsLinked(t *testing.T) {
	t.Parallel()
	program, _ := compiled()
	document := syftDocumentOf(t, program)
	var purls []string
	for _, artifact := range document.Artifacts {
		purls = append(purls, artifact.PURL)
	}
	comparePURLs(t, purls, wantPURLs())
	if digest := document.Files[0].Digests[0].Value; digest != program.SHA256 {
		t.Errorf("digest is %q, want %q", digest, program.SHA256)
	}
	if document.Descriptor.Configuration.URL != program.Origin || document.Artifacts[0].Licenses[0] != "Apache-2.0" {
		t.Errorf("origin and licence are %+v and %q", document.Descriptor.Configuration, document.Artifacts[0].Licenses)
	}
}

// A downloaded program may be of any make.
func TestDocumentsDescribeAProgramWithoutBuildInfo(t *testing.T) {
	t.Parallel()
	const want = "pkg:github/my-org/probe@v1.2.3"
	program := Component{
		Name: "grpc_health_probe", Version: "v1.2.3", SHA256: strings.Repeat("a", 64),
		Source: "download",
		Origin: "https://example.com/probe", PURL: want,
	}
	cycloneDXDocument(t, program)
	document := spdxDocument(t, program)
	if got := document.Packages[0].PackageExternalReferences[0].Locator; got != want || len(document.Packages) != 1 {
		t.Errorf("%d packages, the first is %s", len(document.Packages), got)
	}
	encoded(t, encodeSyft, program)
}

// Two assets of one release hold the same program, and one of them another file.
func TestDocumentsDescribeALayerOfAssets(t *testing.T) {
	t.Parallel()
	program, _ := compiled()
	program.Origin = ""
	asset := func(name string) Component {
		return Component{
			Name: name, Version: "v1", PURL: "pkg:github/my-org/tool@v1", SHA256: strings.Repeat("a", 64),
			Origin: "https://example.com/" + name, Parts: []Component{program},
		}
	}
	content := Component{Name: "my-org_tool", Parts: []Component{asset("one"), asset("two")}}
	want := []string{}
	for range 2 {
		want = append(want, "pkg:github/my-org/tool@v1", program.PURL)
		for _, c := range program.Parts {
			want = append(want, c.PURL)
		}
	}
	slices.Sort(want)

	bom := cycloneDXDocument(t, content)
	var purls []string
	refs := map[string]bool{bom.Metadata.Component.BOMRef: true}
	for _, c := range *bom.Components {
		purls, refs[c.BOMRef] = append(purls, c.PackageURL), true
	}
	comparePURLs(t, purls, want)
	if len(refs) != len(*bom.Components)+1 || len(*bom.Dependencies) != len(refs) {
		t.Errorf("%d references and %d dependencies for %d components",
			len(refs), len(*bom.Dependencies), len(*bom.Components))
	}

	document := spdxDocument(t, content)
	purls = nil
	for _, p := range document.Packages[1:] {
		purls = append(purls, p.PackageExternalReferences[0].Locator)
	}
	comparePURLs(t, purls, want)

	syft := syftDocumentOf(t, content)
	purls = nil
	for _, artifact := range syft.Artifacts {
		purls = append(purls, artifact.PURL)
	}
	comparePURLs(t, purls, want)
	if assets := syft.Descriptor.Configuration.Assets; len(assets) != 2 ||
		assets[1] != (struct{ Name, URL string }{"two", "https://example.com/two"}) {
		t.Errorf("the assets came from %v", assets)
	}
}
