package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// object is a part of a manifest.
type object = map[string]any

// examples reads the resources in a file of examples/kubernetes.
func examples(t *testing.T, file string) []object {
	t.Helper()
	open, err := os.Open(filepath.Join("../../examples/kubernetes", file))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	return decodeAll(t, open)
}

// decodeAll decodes the resources of a manifest.
func decodeAll(t *testing.T, manifest io.Reader) (resources []object) {
	t.Helper()
	for decoder := yaml.NewDecoder(manifest); ; {
		var resource object
		err := decoder.Decode(&resource)
		if errors.Is(err, io.EOF) {
			return resources
		}
		if err != nil {
			t.Fatalf("reading a manifest: %v", err)
		}
		resources = append(resources, resource)
	}
}

// example is the pod with which an example begins, or that of the Deployment with which it begins, with what a test
// changes in it.
func example(t *testing.T, file string, changes ...func(pod object)) object {
	t.Helper()
	pod := examples(t, file)[0]
	if pod["kind"] == "Deployment" {
		name := pod["metadata"].(object)["name"]
		pod = pod["spec"].(object)["template"].(object)
		pod["apiVersion"], pod["kind"] = "v1", "Pod"
		pod["metadata"].(object)["name"] = name
	}
	changeAll(t, file, pod, changes)
	return pod
}

// changeAll changes a resource of an example. A change that does not find what it changes fails its own test, and does
// not end those beside it.
func changeAll(t *testing.T, file string, resource object, changes []func(object)) {
	t.Helper()
	defer func() {
		if missing := recover(); missing != nil {
			t.Fatalf("%s does not have what the test changes: %v\n%s", file, missing, debug.Stack())
		}
	}()
	for _, change := range changes {
		change(resource)
	}
}

// named gives the pod another name.
func named(name string) func(object) {
	return func(pod object) { pod["metadata"].(object)["name"] = name }
}

// withArgs gives the app other arguments.
func withArgs(args ...string) func(object) {
	return func(pod object) { app(pod)["args"] = args }
}

// app is the first container of a pod.
func app(pod object) object {
	return pod["spec"].(object)["containers"].([]any)[0].(object)
}

// sidecar is the first init container of a pod.
func sidecar(pod object) object {
	return pod["spec"].(object)["initContainers"].([]any)[0].(object)
}

// running is a pod on the node.
type running struct {
	space
	name string
}

// run creates a pod in a namespace of its own.
func run(t *testing.T, pod object) running {
	t.Helper()
	return newSpace(t).run(pod)
}

// run creates a pod in the namespace.
func (s space) run(pod object) running {
	s.t.Helper()
	if err := cluster.Create(s.t.Context(), s.path("pods"), pod); err != nil {
		s.t.Fatal(err)
	}
	return running{s, pod["metadata"].(object)["name"].(string)}
}

// pod is what the API server says of the pod.
func (r running) pod(ctx context.Context) (Pod, error) {
	var pod Pod
	err := r.read(ctx, "pods/"+r.name, &pod)
	return pod, err
}

// until waits for a state of the pod.
func (r running) until(state string, reached func(pod Pod) bool) Pod {
	r.t.Helper()
	var pod Pod
	poll(r.t, fmt.Sprintf("pod %q to be %s", r.name, state), func(ctx context.Context) (yes bool, err error) {
		pod, err = r.pod(ctx)
		return err == nil && reached(pod), err
	})
	return pod
}

func (r running) untilReady() Pod {
	r.t.Helper()
	return r.until("ready", Pod.Ready)
}

func (r running) untilNotReady() {
	r.t.Helper()
	r.until("not ready", func(pod Pod) bool { return !pod.Ready() })
}

// control asks the app's HTTP side for a path, such as /make-not-serving.
func (r running) control(path string) {
	r.t.Helper()
	pod, err := r.pod(r.t.Context())
	if err == nil {
		_, err = cluster.HTTP(r.t.Context(), "http://"+pod.Status.PodIP+":8080"+path)
	}
	if err != nil {
		r.t.Fatalf("controlling the app of pod %q: %v", r.name, err)
	}
}

// probes says how often the pod's probe (Startup, Readiness, Liveness) has passed and failed.
func (r running) probes(kind string) (passed, failed int) {
	r.t.Helper()
	results, err := cluster.Probes(r.t.Context(), r.space.name, r.name, kind)
	if err != nil {
		r.t.Fatal(err)
	}
	return results["successful"], results["failed"]
}

// untilProbes waits for counts of a probe.
func (r running) untilProbes(kind, state string, reached func(passed, failed int) bool) {
	r.t.Helper()
	poll(r.t, fmt.Sprintf("the %s probe of pod %q to have %s", kind, r.name, state),
		func(ctx context.Context) (bool, error) {
			results, err := cluster.Probes(ctx, r.space.name, r.name, kind)
			return err == nil && reached(results["successful"], results["failed"]), err
		})
}

// entries are what the kubelet's log says of a pod, or of all of them, if the name is empty. What a probe printed is on
// lines of its own, which are indented.
func (s space) entries(pod string) []string {
	s.t.Helper()
	log, err := os.ReadFile(filepath.Join(logs, "kubelet.log"))
	if err != nil {
		s.t.Fatal(err)
	}
	name := fmt.Sprintf(`"%s/%s`, s.name, pod)
	if pod != "" {
		name += `"`
	}
	var entries []string
	about := false
	for line := range strings.Lines(string(log)) {
		indented := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " ")
		switch {
		case !indented:
			if about = strings.Contains(line, name); about {
				entries = append(entries, line)
			}
		case about:
			entries[len(entries)-1] += line
		}
	}
	return entries
}

// wantLogged waits for a number of entries that match, among those of the kubelet's log that speak of the pod.
func (r running) wantLogged(pattern string, atLeast int) {
	r.t.Helper()
	entry := regexp.MustCompile("(?s)" + pattern)
	poll(r.t, fmt.Sprintf("the kubelet to log %q of pod %q", pattern, r.name), func(context.Context) (bool, error) {
		n := 0
		for _, text := range r.entries(r.name) {
			if entry.MatchString(text) {
				n++
			}
		}
		return n >= atLeast, nil
	})
}
