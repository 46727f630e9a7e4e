// Package labeltest checks the image label of the build phase by its JSON schema, docs/label.schema.json, for tests.
// The input is the repository's folder and the text of a label, the output the label's defects. Begin with [Check].
package labeltest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Object is an object of JSON.
type Object = map[string]any

// ReadSchema reads the schema in the repository.
func ReadSchema(repository string) (Object, error) {
	text, err := os.ReadFile(filepath.Join(repository, "docs/label.schema.json"))
	if err != nil {
		return nil, fmt.Errorf("reading the schema of the image label: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading the schema of the image label: %w", err)
	}
	schema, ok := value.(Object)
	if !ok {
		return nil, fmt.Errorf("reading the schema of the image label: it is a %T, not an object", value)
	}
	return schema, nil
}

// Check returns the defects of a label's text. Readers ignore unknown keys, and so does the schema; here a key missing
// from the schema is an error, so that the schema gets the key.
func Check(repository, label string) error {
	schema, err := ReadSchema(repository)
	if err != nil {
		return err
	}
	forbidOtherKeys(schema)
	return Validate(schema, label)
}

// Validate returns the defects of a label's text by a schema.
func Validate(schema Object, label string) error {
	const name = "label.schema.json"
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, schema); err != nil {
		return fmt.Errorf("adding the schema of the image label: %w", err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return fmt.Errorf("compiling the schema of the image label: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(label)))
	if err != nil {
		return fmt.Errorf("reading the image label %q: %w", label, err)
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("validating the image label %s by docs/label.schema.json: %w", label, err)
	}
	return nil
}

// forbidOtherKeys changes a schema, with all its parts, to refuse undescribed keys.
func forbidOtherKeys(schema Object) {
	for _, key := range []string{"properties", "$defs"} {
		parts, _ := schema[key].(Object)
		for _, part := range parts {
			if part, ok := part.(Object); ok {
				forbidOtherKeys(part)
			}
		}
	}
	if items, ok := schema["items"].(Object); ok {
		forbidOtherKeys(items)
	}
	if _, ok := schema["properties"]; ok {
		schema["additionalProperties"] = false
	}
}
