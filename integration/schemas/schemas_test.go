// Package schemas holds the examples for platforms that cannot be run here against the platforms' own types: a field
// that they do not know is an error, and what their webhooks refuse is, too. It holds the pods of examples/kubernetes
// against Kubernetes' types as well, if no cluster can be run. The command lines of kubectl and kind in the documents
// are parsed by these programs' own packages.
package schemas

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GoogleContainerTools/skaffold/v2/pkg/skaffold/schema/latest"
	kpack "github.com/pivotal/kpack/pkg/apis/build/v1alpha2"
	tekton "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	yamlv3 "gopkg.in/yaml.v3"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"knative.dev/pkg/apis"
	serving "knative.dev/serving/pkg/apis/serving/v1"
	strict "sigs.k8s.io/yaml"
)

// object is a resource of a platform that is defined in a cluster.
type object interface {
	apis.Defaultable
	apis.Validatable
}

// kinds are the resources in the examples, by API version and kind.
var kinds = map[string]func() object{
	"kpack.io/v1alpha2 ClusterBuildpack": func() object { return &kpack.ClusterBuildpack{} },
	"kpack.io/v1alpha2 ClusterStack":     func() object { return &kpack.ClusterStack{} },
	"kpack.io/v1alpha2 ClusterBuilder":   func() object { return &kpack.ClusterBuilder{} },
	"kpack.io/v1alpha2 Image":            func() object { return &kpack.Image{} },
	"tekton.dev/v1 Task":                 func() object { return &tekton.Task{} },
	"tekton.dev/v1 TaskRun":              func() object { return &tekton.TaskRun{} },
	"serving.knative.dev/v1 Service":     func() object { return &serving.Service{} },
}

func TestResources(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"kpack.yaml": 5, "tekton.yaml": 3, "cloud-run.yaml": 1, "cloud-run-bridge.yaml": 1,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents := read(t, name)
			if len(documents) != want {
				t.Errorf("%s has %d resources, want %d", name, len(documents), want)
			}
			for _, document := range documents {
				if err := check(t.Context(), document); err != nil {
					t.Errorf("%s: %v\n%s", name, err, document)
				}
			}
		})
	}
}

// TestMistakes shows that the checks find what is wrong.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct{ file, from, to, want string }{
		"unknown field": {"kpack.yaml", "optional: true", "optionally: true", `unknown field "optionally"`},
		"unknown kind":  {"kpack.yaml", "kind: Image", "kind: Imago", `"kpack.io/v1alpha2 Imago" is not known`},
		"no tag":        {"kpack.yaml", "tag: registry.example.com/my-app", "tag:", "missing field(s): spec.tag"},
		"no task":       {"tekton.yaml", "    name: buildpacks-with-probe", "    name:", "missing field(s): spec.taskRef.name"},
		"no port":       {"cloud-run.yaml", "port: 8080", "port: h2c", "cannot unmarshal string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var errs []error
			for _, document := range read(t, change.file) {
				changed := strings.Replace(string(document), change.from, change.to, 1)
				errs = append(errs, check(context.WithoutCancel(t.Context()), []byte(changed)))
			}
			err := errors.Join(errs...)
			if err == nil || !strings.Contains(err.Error(), change.want) {
				t.Errorf("the error is %v, want %q", err, change.want)
			}
		})
	}
}

// TestSkaffold decodes the configuration as Skaffold does, which refuses unknown fields and other versions than its
// own.
func TestSkaffold(t *testing.T) {
	t.Parallel()
	text := read(t, "skaffold.yaml")[0]
	var config latest.SkaffoldConfig
	decoder := yamlv3.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&config); err != nil {
		t.Fatal(err)
	}
	if config.APIVersion != latest.Version {
		t.Errorf("the version is %q, want %q", config.APIVersion, latest.Version)
	}
	artifact := config.Build.Artifacts[0].BuildpackArtifact
	if artifact == nil || len(artifact.Buildpacks) != 0 || !artifact.TrustBuilder {
		t.Errorf("the artifact is %+v, want one of a trusted builder and no other buildpack", artifact)
	}
}

// TestManifests decodes the resources for Kubernetes as a cluster does for kubectl, whose --validate is strict by
// default.
func TestManifests(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../examples/kubernetes/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there is no pod (%v)", err)
	}
	for _, path := range paths {
		for _, document := range read(t, filepath.Join("kubernetes", filepath.Base(path))) {
			if err := checkKubernetes(document); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// checkKubernetes decodes a resource of Kubernetes itself.
func checkKubernetes(document []byte) error {
	var kind struct{ APIVersion, Kind string }
	if err := strict.Unmarshal(document, &kind); err != nil {
		return err
	}
	resources := map[string]runtime.Object{
		"v1 Pod": &core.Pod{}, "v1 Service": &core.Service{}, "v1 ConfigMap": &core.ConfigMap{},
		"apps/v1 Deployment": &apps.Deployment{},
	}
	resource, ok := resources[kind.APIVersion+" "+kind.Kind]
	if !ok {
		return fmt.Errorf("the resource %q is not known", kind.APIVersion+" "+kind.Kind)
	}
	return strict.UnmarshalStrict(document, resource)
}

// read splits an example into its documents.
func read(t *testing.T, name string) [][]byte {
	t.Helper()
	file, err := os.Open(filepath.Join("../../examples", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var documents [][]byte
	for reader := yaml.NewYAMLReader(bufio.NewReader(file)); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, document)
	}
}

// check decodes a resource strictly, sets what the platform's webhook does, and asks its validation.
func check(ctx context.Context, document []byte) error {
	var kind struct{ APIVersion, Kind string }
	if err := strict.Unmarshal(document, &kind); err != nil {
		return err
	}
	name := kind.APIVersion + " " + kind.Kind
	if kind.APIVersion == "v1" {
		return checkKubernetes(document)
	}
	make, ok := kinds[name]
	if !ok {
		return fmt.Errorf("the resource %q is not known", name)
	}
	resource := make()
	if err := strict.UnmarshalStrict(document, resource); err != nil {
		return err
	}
	ctx = apis.WithinCreate(ctx)
	resource.SetDefaults(ctx)
	// Its warnings are about what Cloud Run sets itself.
	if err := resource.Validate(ctx).Filter(apis.ErrorLevel); err != nil {
		return err
	}
	return nil
}
