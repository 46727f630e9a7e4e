package schemas

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
	"sigs.k8s.io/kustomize/kyaml/fn/runtime/runtimeutil"
	strict "sigs.k8s.io/yaml"
)

// TestKustomizeFunction has kustomize read the example without its function, and holds the settings of the function, as
// a program and in a container, against the type that kustomize reads them as.
func TestKustomizeFunction(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text, err := os.ReadFile("../../examples/kustomize/my-app/deployment.yaml")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "deployment.yaml"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	const without = "resources: [deployment.yaml]\n"
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(without), 0o600); err != nil {
		t.Fatal(err)
	}
	deployment(t, kustomize(t, folder))
	if program := function(t, "probes.yaml"); program.Exec.Path == "" || program.Container.Image != "" {
		t.Errorf("the function is no program: %+v", program)
	}
	if contained := function(t, "probes-in-container.yaml"); contained.Exec.Path != "" ||
		contained.Container.Image == "" || !contained.Container.Network {
		t.Errorf("the function is in no container with a network: %+v", contained)
	}
}

// function reads the settings of a function of the example.
func function(t *testing.T, name string) (f runtimeutil.FunctionSpec) {
	t.Helper()
	var settings core.ConfigMap
	if err := strict.UnmarshalStrict(read(t, "kustomize/my-app/"+name)[0], &settings); err != nil {
		t.Fatal(err)
	}
	if err := strict.UnmarshalStrict([]byte(settings.Annotations["config.kubernetes.io/function"]), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// kustomize returns what kubectl kustomize prints for a folder.
func kustomize(t *testing.T, folder string) []byte {
	t.Helper()
	var out, failed bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &failed}
	kubectl := cmd.NewKubectlCommand(cmd.KubectlOptions{IOStreams: streams})
	kubectl.SetArgs([]string{"kustomize", folder})
	if err := kubectl.ExecuteContext(t.Context()); err != nil || failed.Len() > 0 {
		t.Fatalf("kubectl kustomize %s: %v\n%s", folder, err, failed.String())
	}
	return out.Bytes()
}

// deployment decodes a Deployment, which must have nothing that Kubernetes does not know.
func deployment(t *testing.T, document []byte) *apps.Deployment {
	t.Helper()
	d := &apps.Deployment{}
	if err := strict.UnmarshalStrict(document, d); err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	if len(d.Spec.Template.Spec.Containers) == 0 {
		t.Fatalf("the Deployment has no container:\n%s", document)
	}
	return d
}
