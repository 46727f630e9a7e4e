// Package sbomtest reads the documents of an SBOM for tests, and checks them by their formats: from a JSON document to
// the decoded document, or to the defects.
package sbomtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdxlib"
)

// schemas are the files of the CycloneDX library, by the names in their references.
var schemas = map[string]string{
	"bom-1.6.schema.json":  "bom-1.6.schema.json",
	"spdx.schema.json":     "spdx.schema.json",
	"jsf-0.82.schema.json": "jsf-0.82.schemax.json",
}

// CycloneDX reads a CycloneDX 1.6 document, checked by the schemas in the CycloneDX library. The go command locates the
// library.
func CycloneDX(document []byte) (*cyclonedx.BOM, error) {
	schema, err := schemaOfCycloneDX()
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("reading a CycloneDX document: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return nil, fmt.Errorf("validating a CycloneDX document: %w", err)
	}
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(document), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		return nil, fmt.Errorf("reading a CycloneDX document: %w", err)
	}
	return &bom, nil
}

func schemaOfCycloneDX() (*jsonschema.Schema, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		return nil, fmt.Errorf("finding the CycloneDX library: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	for name, file := range schemas {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "schema", file))
		if err != nil {
			return nil, fmt.Errorf("reading the schema %q: %w", file, err)
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("reading the schema %q: %w", file, err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name, schema); err != nil {
			return nil, fmt.Errorf("adding the schema %q: %w", file, err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		return nil, fmt.Errorf("compiling the CycloneDX schema: %w", err)
	}
	return schema, nil
}

// SPDX reads an SPDX document, checked by the validator of the SPDX library.
func SPDX(document []byte) (*spdx.Document, error) {
	read, err := spdxjson.Read(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("reading an SPDX document: %w", err)
	}
	if err := spdxlib.ValidateDocument(read); err != nil {
		return nil, fmt.Errorf("validating an SPDX document: %w", err)
	}
	return read, nil
}
