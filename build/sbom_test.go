package build

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/spdx/tools-golang/spdx"

	"github.com/grpc-cnb/health-probe/build/sbomtest"
)

// testProbe is a real program with modules in it; a test's own binary records none.
func testProbe(t *testing.T) Probe {
	t.Helper()
	file := filepath.Join(t.TempDir(), "buildpack")
	if said, err := exec.Command("go", "build", "-o", file, "../cmd/buildpack").CombinedOutput(); err != nil {
		t.Fatalf("compiling: %v\n%s", err, said)
	}
	probe, err := open(file, "bundled")
	if err != nil {
		t.Fatal(err)
	}
	probe.Origin = "https://example.com/probe"
	return probe
}

// wantPURLs returns what each format has to list.
func wantPURLs(probe Probe) []string {
	purls := []string{goModule(probe.Info.Main.Path, probe.Version).purl, "pkg:golang/stdlib@" + strings.TrimPrefix(probe.Info.GoVersion, "go")}
	for _, dep := range probe.Info.Deps {
		purls = append(purls, "pkg:golang/"+dep.Path+"@"+dep.Version)
	}
	slices.Sort(purls)
	return purls
}

func encoded(t *testing.T, encode func(io.Writer, component) error, content component) *bytes.Buffer {
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

func cycloneDXDocument(t *testing.T, content component) *cyclonedx.BOM {
	t.Helper()
	bom, err := sbomtest.CycloneDX(encoded(t, encodeCycloneDX, content).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return bom
}

func spdxDocument(t *testing.T, content component) *spdx.Document {
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
	probe := testProbe(t)
	bom := cycloneDXDocument(t, probe.component())
	program := bom.Metadata.Component
	purls := []string{program.PackageURL}
	for _, component := range *bom.Components {
		purls = append(purls, component.PackageURL)
	}
	comparePURLs(t, purls, wantPURLs(probe))
	if hash := (*program.Hashes)[0]; hash.Value != probe.SHA256 {
		t.Errorf("digest is %q, want %q", hash.Value, probe.SHA256)
	}
	if dependsOn := (*bom.Dependencies)[0].Dependencies; len(*dependsOn) != len(*bom.Components) {
		t.Errorf("the program depends on %d of %d components", len(*dependsOn), len(*bom.Components))
	}
	if url := (*program.ExternalReferences)[0].URL; url != probe.Origin {
		t.Errorf("it came from %q, want %q", url, probe.Origin)
	}
	if id := (*program.Licenses)[0].License.ID; id != "Apache-2.0" {
		t.Errorf("its licence is %q", id)
	}
}

func TestSPDXDocumentListsWhatIsLinked(t *testing.T) {
	probe := testProbe(t)
	document := spdxDocument(t, probe.component())
	var purls []string
	for _, p := range document.Packages {
		purls = append(purls, p.PackageExternalReferences[0].Locator)
	}
	comparePURLs(t, purls, wantPURLs(probe))
	if digest := document.Packages[0].PackageChecksums[0].Value; digest != probe.SHA256 {
		t.Errorf("digest is %q, want %q", digest, probe.SHA256)
	}
	if len(document.Relationships) != len(document.Packages) {
		t.Errorf("%d relationships for %d packages", len(document.Relationships), len(document.Packages))
	}
	if program := document.Packages[0]; program.PackageDownloadLocation != probe.Origin || program.PackageLicenseDeclared != "Apache-2.0" {
		t.Errorf("it came from %q under %q", program.PackageDownloadLocation, program.PackageLicenseDeclared)
	}
}

func TestSyftDocumentListsWhatIsLinked(t *testing.T) {
	probe := testProbe(t)
	var document syftDocument
	decoder := json.NewDecoder(encoded(t, encodeSyft, probe.component()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	var purls []string
	for _, artifact := range document.Artifacts {
		purls = append(purls, artifact.PURL)
	}
	comparePURLs(t, purls, wantPURLs(probe))
	if digest := document.Files[0].Digests[0].Value; digest != probe.SHA256 {
		t.Errorf("digest is %q, want %q", digest, probe.SHA256)
	}
	if document.Descriptor.Configuration.URL != probe.Origin || document.Artifacts[0].Licenses[0] != "Apache-2.0" {
		t.Errorf("origin and licence are %+v and %q", document.Descriptor.Configuration, document.Artifacts[0].Licenses)
	}
}

// Every package URL has a name that means something elsewhere: Go's own programs are of no module, and a module may be
// replaced by a folder.
func TestPackageURLsOfUnusualPrograms(t *testing.T) {
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8-X:fieldtrack", Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "../a", Version: "(devel)"}},
		{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0"}},
	}}
	want := []string{"pkg:golang/stdlib@1.26.8", "pkg:golang/example.com/a", "pkg:golang/example.com/c@v2.0.0"}
	program := goProgram(info, "")
	if program.purl != "" {
		t.Errorf("a program of no module has the package URL %q", program.purl)
	}
	var got []string
	for _, part := range program.parts {
		got = append(got, part.purl)
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed: %q, want %q", got, want)
	}
}

// A fork's release has a version that its module, which is another's, does not have.
func TestDownloadedProbeIsOfItsReleaseAndOfItsModule(t *testing.T) {
	const upstream = "github.com/grpc-ecosystem/grpc-health-probe"
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8 (Red Hat 1.26.8-1.el9)", Main: debug.Module{Path: upstream, Version: "v0.4.56"}}
	probe := Probe{Version: "fips-7", PURL: "pkg:github/my-org/fork@fips-7", Info: info}.component()
	var purls []string
	for _, c := range number(probe).all() {
		purls = append(purls, c.purl)
	}
	comparePURLs(t, purls, []string{"pkg:github/my-org/fork@fips-7", "pkg:golang/" + upstream + "@v0.4.56", "pkg:golang/stdlib@1.26.8"})
	if probe.version != "fips-7" || probe.licence != "Apache-2.0" {
		t.Errorf("its version and licence are %q and %q", probe.version, probe.licence)
	}
}

// A downloaded program may be of any make.
func TestDocumentsDescribeAProgramWithoutBuildInfo(t *testing.T) {
	const want = "pkg:github/my-org/probe@v1.2.3"
	probe := Probe{Version: "v1.2.3", SHA256: strings.Repeat("a", 64), Source: "download", Origin: "https://example.com/probe", PURL: want}
	cycloneDXDocument(t, probe.component())
	document := spdxDocument(t, probe.component())
	if got := document.Packages[0].PackageExternalReferences[0].Locator; got != want || len(document.Packages) != 1 {
		t.Errorf("%d packages, the first is %s", len(document.Packages), got)
	}
	encoded(t, encodeSyft, probe.component())
}

// Two assets of one release hold the same program, and one of them another file.
func TestDocumentsDescribeALayerOfAssets(t *testing.T) {
	program := testProbe(t).component()
	program.origin = ""
	asset := func(name string) component {
		return component{name: name, version: "v1", purl: "pkg:github/my-org/tool@v1", sha256: strings.Repeat("a", 64),
			origin: "https://example.com/" + name, parts: []component{program}}
	}
	content := component{name: "my-org_tool", parts: []component{asset("one"), asset("two")}}
	program.parts = append(program.parts, program)
	want := []string{}
	for range 2 {
		want = append(want, "pkg:github/my-org/tool@v1")
		for _, c := range program.parts {
			want = append(want, c.purl)
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
		t.Errorf("%d references and %d dependencies for %d components", len(refs), len(*bom.Dependencies), len(*bom.Components))
	}

	document := spdxDocument(t, content)
	purls = nil
	for _, p := range document.Packages[1:] {
		purls = append(purls, p.PackageExternalReferences[0].Locator)
	}
	comparePURLs(t, purls, want)

	var syft syftDocument
	if err := json.NewDecoder(encoded(t, encodeSyft, content)).Decode(&syft); err != nil {
		t.Fatal(err)
	}
	purls = nil
	for _, artifact := range syft.Artifacts {
		purls = append(purls, artifact.PURL)
	}
	comparePURLs(t, purls, want)
	if assets := syft.Descriptor.Configuration.Assets; len(assets) != 2 || assets[1] != (syftAsset{"two", "https://example.com/two"}) {
		t.Errorf("the assets came from %v", assets)
	}
}
