package schemas

import (
	"testing"

	core "k8s.io/api/core/v1"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

// TestHelmChart renders the chart in examples/helm with Helm, and checks that its Deployment is one of Kubernetes with
// the probes of the chart's values and a user's variable.
func TestHelmChart(t *testing.T) {
	t.Parallel()
	chart, err := loader.Load("../../examples/helm")
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]any{"env": []any{map[string]any{"name": "GRPC_HEALTH_PROBE_TLS", "value": "true"}}}
	values, err := chartutil.ToRenderValues(chart, set, chartutil.ReleaseOptions{Name: "my-app"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(chart, values)
	if err != nil {
		t.Fatal(err)
	}
	rendered := []byte(files["my-app/templates/deployment.yaml"])
	if err := checkKubernetes(rendered); err != nil {
		t.Fatal(err)
	}
	container := deployment(t, rendered).Spec.Template.Spec.Containers[0]
	for name, probe := range map[string]*core.Probe{
		"readinessProbe": container.ReadinessProbe, "livenessProbe": container.LivenessProbe,
	} {
		if probe == nil || probe.Exec == nil || probe.TimeoutSeconds != 3 {
			t.Errorf("the %s is %v", name, probe)
		}
	}
	if len(container.Env) != 1 || container.Env[0].Name != "GRPC_HEALTH_PROBE_TLS" {
		t.Errorf("the variables are %v", container.Env)
	}
}
