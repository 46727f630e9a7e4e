package build

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdxlib"
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
	text := encoded(t, encodeCycloneDX, probe)
	validateCycloneDX(t, text.Bytes())
	if err := cyclonedx.NewBOMDecoder(text, cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
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
	if url := (*program.ExternalReferences)[0].URL; url != probe.Origin {
		t.Errorf("it came from %q, want %q", url, probe.Origin)
	}
	if id := (*program.Licenses)[0].License.ID; id != "Apache-2.0" {
		t.Errorf("its licence is %q", id)
	}
}

// validateCycloneDX holds a document against the schemas that come with the CycloneDX library.
func validateCycloneDX(t *testing.T, document []byte) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "schema")
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.6.schema.json":  "bom-1.6.schema.json",
		"spdx.schema.json":     "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		text, err := os.Open(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		defer text.Close()
		schema, err := jsonschema.UnmarshalJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name, schema); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("the document is not CycloneDX 1.6: %v", err)
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
	if program := document.Packages[0]; program.PackageDownloadLocation != probe.Origin || program.PackageLicenseDeclared != "Apache-2.0" {
		t.Errorf("it came from %q under %q", program.PackageDownloadLocation, program.PackageLicenseDeclared)
	}
	if err := spdxlib.ValidateDocument(&document); err != nil {
		t.Errorf("the document is not SPDX 2.3: %v", err)
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
	if digest := document.Files[0].Digests[0].Value; digest != probe.SHA256 {
		t.Errorf("digest is %q, want %q", digest, probe.SHA256)
	}
	if document.Descriptor.Configuration.URL != probe.Origin || document.Artifacts[0].Licenses[0] != "Apache-2.0" {
		t.Errorf("origin and licence are %+v and %q", document.Descriptor.Configuration, document.Artifacts[0].Licenses)
	}
}

// A downloaded program may be of any make.
func TestDocumentsDescribeAProgramWithoutBuildInfo(t *testing.T) {
	probe := Probe{Version: "v1.2.3", SHA256: strings.Repeat("a", 64), Source: "download", Origin: "https://example.com/probe"}
	validateCycloneDX(t, encoded(t, encodeCycloneDX, probe).Bytes())
	var document spdx.Document
	if err := spdxjson.ReadInto(encoded(t, encodeSPDX, probe), &document); err != nil {
		t.Fatal(err)
	}
	if err := spdxlib.ValidateDocument(&document); err != nil {
		t.Errorf("the document is not SPDX 2.3: %v", err)
	}
	want := "pkg:generic/grpc_health_probe@v1.2.3"
	if got := document.Packages[0].PackageExternalReferences[0].Locator; got != want || len(document.Packages) != 1 {
		t.Errorf("%d packages, the first is %s", len(document.Packages), got)
	}
	encoded(t, encodeSyft, probe)
}
