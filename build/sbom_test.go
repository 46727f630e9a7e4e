package build

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
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
	return probe
}

// wantPURLs returns what each format has to list.
func wantPURLs(probe Probe) []string {
	purls := []string{mainModule(probe).purl(), "pkg:golang/stdlib@" + strings.TrimPrefix(probe.Info.GoVersion, "go")}
	for _, dep := range probe.Info.Deps {
		purls = append(purls, "pkg:golang/"+dep.Path+"@"+dep.Version)
	}
	slices.Sort(purls)
	return purls
}

func encoded(t *testing.T, encode func(io.Writer, Probe) error, probe Probe) *bytes.Buffer {
	t.Helper()
	var first, second bytes.Buffer
	for _, buffer := range []*bytes.Buffer{&first, &second} {
		if err := encode(buffer, probe); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("encoding twice gives different bytes")
	}
	return &first
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
	var bom cyclonedx.BOM
	decoder := cyclonedx.NewBOMDecoder(encoded(t, encodeCycloneDX, probe), cyclonedx.BOMFileFormatJSON)
	if err := decoder.Decode(&bom); err != nil {
		t.Fatal(err)
	}
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
}

func TestSPDXDocumentListsWhatIsLinked(t *testing.T) {
	probe := testProbe(t)
	var document spdx.Document
	if err := spdxjson.ReadInto(encoded(t, encodeSPDX, probe), &document); err != nil {
		t.Fatal(err)
	}
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
}

func TestSyftDocumentListsWhatIsLinked(t *testing.T) {
	probe := testProbe(t)
	var document syftDocument
	decoder := json.NewDecoder(encoded(t, encodeSyft, probe))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	var purls []string
	for _, artifact := range document.Artifacts {
		purls = append(purls, artifact.PURL)
	}
	comparePURLs(t, purls, wantPURLs(probe))
}
