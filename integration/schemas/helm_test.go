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
	container := render(t, map[string]any{
		"env": []any{map[string]any{"name": "GRPC_HEALTH_PROBE_TLS", "value": "true"}},
	})
	for name, probe := range map[string]*core.Probe{
		"readinessProbe": container.ReadinessProbe, "livenessProbe": container.LivenessProbe,
	} {
		if probe == nil || probe.Exec == nil || probe.TimeoutSeconds != 4 {
			t.Errorf("the %s is %v", name, probe)
		}
	}
	if len(container.Env) != 1 || container.Env[0].Name != "GRPC_HEALTH_PROBE_TLS" {
		t.Errorf("the variables are %v", container.Env)
	}
}

// TestHelmReplacesTheKindOfAProbe has values with a probe of another kind than the chart's: without null for that one,
// the probe has both, which Kubernetes refuses (docs/helm.md).
func TestHelmReplacesTheKindOfAProbe(t *testing.T) {
	t.Parallel()
	native := map[string]any{"grpc": map[string]any{"port": 8086}}
	values := map[string]any{"readinessProbe": native}
	if probe := render(t, values).ReadinessProbe; probe.Exec == nil || probe.GRPC == nil {
		t.Errorf("without null the probe is %v", probe)
	}
	native["exec"] = nil
	if probe := render(t, values).ReadinessProbe; probe.Exec != nil || probe.GRPC == nil {
		t.Errorf("with null the probe is %v", probe)
	}
}

// render returns the container of the Deployment that Helm makes of the chart in examples/helm with a user's values.
func render(t *testing.T, set map[string]any) core.Container {
	t.Helper()
	chart, err := loader.Load("../../examples/helm")
	if err != nil {
		t.Fatal(err)
	}
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
	return deployment(t, rendered).Spec.Template.Spec.Containers[0]
}
