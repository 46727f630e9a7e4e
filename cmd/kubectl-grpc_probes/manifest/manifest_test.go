package manifest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/manifest"
)

var (
	command = &label.Probe{Exec: &label.Exec{Command: []string{"/probe", "-service=a: b"}}, TimeoutSeconds: 4}
	native  = &label.Probe{GRPC: &label.GRPC{Port: 5000, Service: "5000"}}
)

// setAll gives each container of a text both probes, variables and a sidecar.
func setAll(text []byte) ([]byte, int, error) {
	f, err := manifest.Parse(text)
	if err != nil {
		return nil, 0, err
	}
	containers := f.Containers()
	for _, c := range containers {
		err := setProbe(c, manifest.Readiness, command)
		if err == nil {
			err = setProbe(c, manifest.Liveness, native)
		}
		if err == nil {
			err = c.AddEnv([]label.Variable{{Name: "A", Value: "1"}, {Name: "B", Value: "x: y"}})
		}
		if err == nil {
			err = c.AddSidecar(label.Sidecar{Name: "s", RestartPolicy: "Always", Command: []string{"/s"}})
		}
		if err != nil {
			return nil, 0, err
		}
	}
	changed, err := f.Bytes()
	return changed, len(containers), err
}

func setProbe(c *manifest.Container, key string, p *label.Probe) error {
	if is := c.Probe(key); is != nil && is.Asks(p) {
		return nil
	}
	return c.SetProbe(key, p)
}

// Texts of many shapes get what Kubernetes' own types accept; the comments that have a line stay.
func TestShapes(t *testing.T) {
	t.Parallel()
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n"
	const list = deployment + "      containers:\n"
	for name, text := range map[string]string{
		"list of the key's column": list + "      - name: a\n        env:\n        - name: C\n",
		"deeper list":              list + "          -   name: a\n              image: b",
		"other lines' ends":        strings.ReplaceAll(list+"      - name: a\n", "\n", "\r\n"),
		"text that looks like YAML": list + "      - name: a\n        args:\n        - |\n" +
			"          # a\n\n           - b: c\n      restartPolicy: Always\n",
		"flow": deployment + "      containers: [{name: ü, \"env\": [{name: C, value: '}'}]}, {name: b}]\n",
		"comments": "# first\n" + deployment + "      # above\n      containers:\n" +
			"      - name: a # beside\n\n        # below\n\n# last\n",
		"sidecars": deployment + "      initContainers:\n      - name: i\n        image: i\n" +
			"      containers:\n      - image: a\n",
		"probe": list + "      - livenessProbe:\n          httpGet: {port: 1}\n" +
			"          periodSeconds: 3 # often\n        name: a\n",
		"no values": deployment + "      initContainers: ~ # none\n" + list[len(deployment):] +
			"      - name: a\n        env:\n        # - name: C\n        #   value: c\n" +
			"        livenessProbe: # later\n          # httpGet: {port: 1}\n        readinessProbe: null",
		"no values in flow": deployment + "      initContainers: null\n" +
			"      containers: [{env: null, livenessProbe: ~}]\n",
		"probe in flow": deployment + "      containers: [{livenessProbe: {tcpSocket: {port: \"}\"}}, name: a}]\n",
	} {
		changed, count, err := setAll([]byte(text))
		if err != nil || count == 0 {
			t.Errorf("%s: %d containers, %v", name, count, err)
			continue
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") && !bytes.Contains(changed, []byte(line)) {
				t.Errorf("%s: the comment %q is lost in\n%s", name, line, changed)
			}
		}
		var decoded appsv1.Deployment
		if err := yaml.UnmarshalStrict(changed, &decoded); err != nil {
			t.Errorf("%s: %v in\n%s", name, err, changed)
		}
		for _, c := range decoded.Spec.Template.Spec.Containers {
			if c.ReadinessProbe.Exec.Command[1] != "-service=a: b" || *c.LivenessProbe.GRPC.Service != "5000" {
				t.Errorf("%s: the probes are not those that were set:\n%s", name, changed)
			}
		}
		pod := decoded.Spec.Template.Spec
		hasSidecar := slices.ContainsFunc(pod.InitContainers, func(c corev1.Container) bool {
			return c.Name == "s" && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		})
		if !hasSidecar {
			t.Errorf("%s: there is no sidecar:\n%s", name, changed)
		}
		if again, _, err := setAll(changed); err != nil || !bytes.Equal(again, changed) {
			t.Errorf("%s: a second time it is (%v)\n%s", name, err, again)
		}
	}
}

// FuzzManifest changes texts. What comes out is an error, or means what went in except for the changes, and a second
// time nothing changes.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("kind: Pod\nspec:\n  containers:\n  - name: a\n    image: b\n    env: []\n"))
	f.Add([]byte(`{"kind": "Pod", "spec": {"containers": [{"name": "a", "livenessProbe": {"exec": null}}]}}`))
	f.Add([]byte("kind: List\nitems:\n- &a\n  kind: Pod\n  spec: {containers: [{}]}\n- *a\n---\nkind: Pod\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		changed, count, err := setAll(text)
		if err != nil {
			return
		}
		if count == 0 {
			if !bytes.Equal(changed, text) {
				t.Fatalf("%q has no container, and is changed to\n%s", text, changed)
			}
			return
		}
		file, err := manifest.Parse(changed)
		if err != nil {
			t.Fatalf("%v in\n%s", err, changed)
		}
		containers := file.Containers()
		if len(containers) != count {
			t.Fatalf("there were %d containers, and are %d in\n%s", count, len(containers), changed)
		}
		for _, c := range containers {
			if p := c.Probe(manifest.Readiness); p == nil || !p.Asks(command) {
				t.Fatalf("%s lacks the probe in\n%s", c, changed)
			}
		}
		if before, after := decodeWithoutChanges(t, text), decodeWithoutChanges(t, changed); before != after {
			t.Fatalf("without the changes\n%s\nis %s, and it was %s", changed, after, before)
		}
		if again, _, err := setAll(changed); err != nil || !bytes.Equal(again, changed) {
			t.Fatalf("a second time (%v)\n%s\nis\n%s", err, changed, again)
		}
	})
}

// decodeWithoutChanges prints what the documents of a text mean without what setAll adds.
func decodeWithoutChanges(t *testing.T, text []byte) string {
	t.Helper()
	var all strings.Builder
	decoder := yamlv3.NewDecoder(bytes.NewReader(text))
	for {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		fmt.Fprintln(&all, withoutChanges(document))
	}
}

// withoutChanges removes the keys that setAll sets, wherever they are.
func withoutChanges(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return withoutKeys(value)
	case map[any]any: // one of its keys is no text
		return withoutKeys(value)
	case []any:
		for i := range value {
			value[i] = withoutChanges(value[i])
		}
	}
	return value
}

func withoutKeys[K comparable](mapping map[K]any) any {
	kept := map[any]any{}
	for key, value := range mapping {
		switch any(key) {
		case manifest.Readiness, manifest.Liveness, "env", "initContainers":
		default:
			kept[key] = withoutChanges(value)
		}
	}
	return kept
}
