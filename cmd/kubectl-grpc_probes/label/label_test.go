package label_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
)

// TestSchemaExample reads the label in the schema, as it is and as older images have it.
func TestSchemaExample(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/label.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct{ Examples []map[string]any }
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	for _, want := range []label.Kind{label.Native, label.Execed} {
		text, err := json.Marshal(schema.Examples[0])
		if err != nil {
			t.Fatal(err)
		}
		l, err := label.Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if probes, kind, err := l.Choose(label.Auto, false); err != nil || kind != want || probes.Readiness == nil {
			t.Errorf("%s has probes of the kind %q (%v), want %q", text, kind, err, want)
		}
		delete(schema.Examples[0], "probes")
	}
}

// FuzzLabel reads labels of images that others made. Whatever is chosen has a probe of exactly one kind.
func FuzzLabel(f *testing.F) {
	f.Add(`{"schema":1,"path":"/p","exec":{"command":["/p"]},` +
		`"bridge":{"port":8086,"start":"manifest","command":["/b"]}}`)
	f.Add(`{"schema":1,"path":"/p","probes":{"grpc":{"readinessProbe":{"grpc":{"port":1}},"remarks":["x"]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := label.Parse(text)
		if err != nil {
			return
		}
		for _, kind := range label.All() {
			for _, bypassed := range []bool{false, true} {
				probes, _, err := l.Choose(kind, bypassed)
				if err == nil && (probes.Readiness.Exec == nil) == (probes.Readiness.GRPC == nil) {
					t.Errorf("%s of %q has no probe of one kind", kind, text)
				}
			}
		}
	})
}
