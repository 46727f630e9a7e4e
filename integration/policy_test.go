package integration

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// policyLabels are the labels of the images that a pod runs, by the images' names.
var policyLabels = map[string]string{
	"both": `{"schema": 1, "health": "registered", "probes": {"exec": {` +
		`"readinessProbe": {"exec": {"command": ["/probe"]}, "timeoutSeconds": 4},` +
		`"livenessProbe": {"exec": {"command": ["/probe", "-service=live"]}, "timeoutSeconds": 4}}}}`,
	"ready": `{"schema": 1, "probes": {"exec": {` +
		`"readinessProbe": {"exec": {"command": ["/probe"]}, "timeoutSeconds": 4}}}}`,
	"missing": `{"schema": 1, "health": "missing", "probes": {"exec": {` +
		`"readinessProbe": {"exec": {"command": ["/probe"]}, "timeoutSeconds": 4}}}}`,
	"newer": `{"schema": 2, "probes": {"exec": {"readinessProbe": {"exec": {"command": ["/probe"]}}}}}`,
	"older": `{"schema": 1, "exec": {"command": ["/probe"], "timeoutSeconds": 4}}`,
	"plain": "",
}

// policyPods are a pod that gets probes, one that wants none, and a Deployment, whose pods get them later.
const policyPods = `apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  containers:
  - {name: both, image: REGISTRY/both}
  - name: written
    image: REGISTRY/both
    readinessProbe: {httpGet: {port: 80}}
  - {name: ready, image: REGISTRY/ready}
  - {name: missing, image: REGISTRY/missing}
  - {name: newer, image: REGISTRY/newer}
  - {name: older, image: REGISTRY/older}
  - {name: plain, image: REGISTRY/plain}
  - {name: unreadable, image: REGISTRY/unreadable}
---
apiVersion: v1
kind: Pod
metadata:
  name: ignored
  annotations: {io.github.grpc-cnb.health-probe: ignore}
spec:
  containers: [{name: both, image: REGISTRY/both}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: deployment}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: both, image: REGISTRY/both}]}
`

// policyProbes are the probes of their containers after Kyverno has seen them.
const policyProbes = `
app:
  both:
    readinessProbe: {exec: {command: [/probe]}, timeoutSeconds: 4}
    livenessProbe: {exec: {command: [/probe, -service=live]}, timeoutSeconds: 4}
  written:
    readinessProbe: {httpGet: {port: 80}}
    livenessProbe: {exec: {command: [/probe, -service=live]}, timeoutSeconds: 4}
  ready:
    readinessProbe: {exec: {command: [/probe]}, timeoutSeconds: 4}
  missing: {}
  newer: {}
  older: {}
  plain: {}
  unreadable: {}
ignored: {both: {}}
deployment: {both: {}}
`

// TestPolicy has Kyverno apply the policy of the examples, with the images in a registry.
func TestPolicy(t *testing.T) {
	t.Parallel()
	program := must(fixture.Tool(t.Context(), "kyverno"))(t)
	registry := must(harness.NewRegistry())(t)
	t.Cleanup(func() { _ = registry.Close() })
	for name, label := range policyLabels {
		var config v1.Config
		if label != "" {
			config.Labels = map[string]string{buildpackLabel: label}
		}
		image := must(mutate.Config(empty.Image, config))(t)
		must(registry.Push(name, image))(t)
	}
	folder := t.TempDir()
	pods := filepath.Join(folder, "pods.yaml")
	text := strings.ReplaceAll(policyPods, "REGISTRY", registry.Address())
	if err := os.WriteFile(pods, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(folder, "changed.yaml")
	apply := exec.CommandContext(t.Context(), program, "apply", filepath.Join(repository, "examples/kyverno.yaml"),
		"--registry", "--resource", pods, "--output", changed)
	apply.Env = append(os.Environ(), "HOME="+folder)
	log, err := apply.CombinedOutput()
	if err != nil {
		t.Fatalf("applying the policy: %v\n%s", err, log)
	}
	var want map[string]containers
	if err := yaml.Unmarshal([]byte(policyProbes), &want); err != nil {
		t.Fatal(err)
	}
	if got := probesIn(t, changed); !reflect.DeepEqual(got, want) {
		t.Errorf("there are the probes\n%s\nwant%s\n%s", must(yaml.Marshal(got))(t), policyProbes, log)
	}
}

// containers are the probes of containers, by the names of the containers and of the probes' keys.
type containers map[string]map[string]any

// probesIn returns the probes in a file, by the names of pods and workloads.
func probesIn(t *testing.T, file string) map[string]containers {
	t.Helper()
	type pod struct{ Containers []map[string]any }
	text := must(os.ReadFile(file))(t)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	all := map[string]containers{}
	for {
		var object *struct {
			Metadata struct{ Name string }
			Spec     struct {
				pod      `yaml:",inline"`
				Template struct{ Spec pod }
			}
		}
		err := decoder.Decode(&object)
		switch {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%v in\n%s", err, text)
		case object == nil: // Kyverno ends the file with an empty document
			continue
		}
		probes := containers{}
		for _, c := range append(object.Spec.Containers, object.Spec.Template.Spec.Containers...) {
			name, _ := c["name"].(string)
			delete(c, "name")
			delete(c, "image")
			probes[name] = c
		}
		all[object.Metadata.Name] = probes
	}
}
