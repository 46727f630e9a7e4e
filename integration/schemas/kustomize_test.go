package schemas

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
	strict "sigs.k8s.io/yaml"
)

// TestKustomizeComponent has kubectl's kustomize add the probes of the component to a Deployment, and compares them
// with those of examples/kubernetes/deployment.yaml.
func TestKustomizeComponent(t *testing.T) {
	t.Parallel()
	got := deployment(t, kustomize(t, "../../examples/kustomize/my-app")).Spec.Template.Spec.Containers[0]
	want := deployment(t, read(t, "kubernetes/deployment.yaml")[0]).Spec.Template.Spec.Containers[0]
	for name, probes := range map[string][2]*core.Probe{
		"startupProbe":   {got.StartupProbe, want.StartupProbe},
		"readinessProbe": {got.ReadinessProbe, want.ReadinessProbe},
		"livenessProbe":  {got.LivenessProbe, want.LivenessProbe},
	} {
		got, want := probes[0], probes[1]
		if got == nil || want == nil {
			t.Errorf("a Deployment has no %s", name)
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the %s is %v, want %v", name, got, want)
		}
	}
	variable := core.EnvVar{Name: "GRPC_HEALTH_PROBE_ADDR", Value: "localhost:5000"}
	if !slices.Contains(got.Env, variable) {
		t.Errorf("the container's variables are %v, without %v", got.Env, variable)
	}
	if isLive := slices.Contains(got.LivenessProbe.Exec.Command, "-mode=live"); !isLive {
		t.Errorf("the liveness probe is %v", got.LivenessProbe.Exec)
	}
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
