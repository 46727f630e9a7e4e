package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// patience is how long a pod may take to come to a state: much longer than it does, for a machine that is busy.
const patience = 3 * time.Minute

// object is a part of a manifest.
type object = map[string]any

// example reads a pod of examples/kubernetes, with what a test changes in it.
func example(t *testing.T, file string, changes ...func(pod object)) object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples/kubernetes", file))
	if err != nil {
		t.Fatal(err)
	}
	var pod object
	if err := yaml.Unmarshal(text, &pod); err != nil {
		t.Fatalf("reading %q: %v", file, err)
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// named gives the pod another name, since two of one name cannot be on a node.
func named(name string) func(object) {
	return func(pod object) { pod["metadata"].(object)["name"] = name }
}

// withArgs gives the app other arguments.
func withArgs(args ...string) func(object) {
	return func(pod object) { app(pod)["args"] = args }
}

// withSecrets puts a folder of this machine in the place of each secret: a static pod can have none, for they come from a
// cluster's API server. Nothing else of the volumes is changed.
func withSecrets(t *testing.T, secrets map[string]files) func(object) {
	return func(pod object) {
		for _, volume := range pod["spec"].(object)["volumes"].([]any) {
			volume := volume.(object)
			name := volume["secret"].(object)["secretName"].(string)
			folder := t.TempDir()
			if len(secrets[name]) == 0 {
				t.Fatalf("the test has no secret %q", name)
			}
			secrets[name].write(t, folder)
			delete(volume, "secret")
			volume["hostPath"] = object{"path": folder}
		}
	}
}

// files are the contents of a secret by key.
type files map[string]string

func (f files) write(t *testing.T, folder string) {
	t.Helper()
	for name, content := range f {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// app is the first container of a pod.
func app(pod object) object {
	return pod["spec"].(object)["containers"].([]any)[0].(object)
}

// running is a pod on the node.
type running struct {
	t    *testing.T
	name string
}

// run gives a pod to the kubelet until the test ends.
func run(t *testing.T, pod object) running {
	t.Helper()
	r := add(t, pod)
	t.Cleanup(func() {
		if t.Failed() {
			entries := r.entries()
			t.Logf("the end of the kubelet's log of pod %q:\n%s", r.name, strings.Join(entries[max(0, len(entries)-5):], ""))
		}
	})
	return r
}

// add is run for one of many pods, whose part of the kubelet's log would be too much to show.
func add(t *testing.T, pod object) running {
	t.Helper()
	manifest, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	r := running{t, pod["metadata"].(object)["name"].(string)}
	if err := node.Add(r.name, manifest); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Remove(r.name); err != nil {
			t.Error(err)
		}
	})
	return r
}

// until waits for a state of the pod.
func (r running) until(state string, reached func(pod Pod) bool) Pod {
	r.t.Helper()
	var pod Pod
	poll(r.t, fmt.Sprintf("pod %q to be %s", r.name, state), func(ctx context.Context) (bool, error) {
		pods, err := node.Pods(ctx)
		pod = pods[r.name]
		return err == nil && reached(pod), err
	})
	return pod
}

func (r running) untilReady() Pod {
	r.t.Helper()
	return r.until("ready", Pod.Ready)
}

func (r running) untilNotReady() Pod {
	r.t.Helper()
	return r.until("not ready", func(pod Pod) bool { return !pod.Ready() })
}

// control asks the app's HTTP side for a path, such as /make-not-serving.
func (r running) control(path string) {
	r.t.Helper()
	pods, err := node.Pods(r.t.Context())
	if err == nil {
		_, err = node.Get(r.t.Context(), "http://"+pods[r.name].Status.PodIP+":8080"+path)
	}
	if err != nil {
		r.t.Fatalf("controlling the app of pod %q: %v", r.name, err)
	}
}

// probes says how often the pod's probe (Startup, Readiness, Liveness) has passed and failed.
func (r running) probes(kind string) (passed, failed int) {
	r.t.Helper()
	results, err := node.Probes(r.t.Context(), r.name, kind)
	if err != nil {
		r.t.Fatal(err)
	}
	return results["successful"], results["failed"]
}

// untilProbes waits for counts of a probe.
func (r running) untilProbes(kind, state string, reached func(passed, failed int) bool) {
	r.t.Helper()
	poll(r.t, fmt.Sprintf("the %s probe of pod %q to have %s", kind, r.name, state), func(ctx context.Context) (bool, error) {
		results, err := node.Probes(ctx, r.name, kind)
		return err == nil && reached(results["successful"], results["failed"]), err
	})
}

// entries are what the kubelet's log says of the pod. What a probe printed is on lines of its own, which are indented.
func (r running) entries() []string {
	r.t.Helper()
	log, err := os.ReadFile(filepath.Join(logs, "kubelet.log"))
	if err != nil {
		r.t.Fatal(err)
	}
	var entries []string
	about := false
	for line := range strings.Lines(string(log)) {
		indented := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " ")
		switch {
		case !indented:
			if about = strings.Contains(line, fmt.Sprintf(`"default/%s-%s"`, r.name, nodeName)); about {
				entries = append(entries, line)
			}
		case about:
			entries[len(entries)-1] += line
		}
	}
	return entries
}

// poll asks again and again until the answer is yes.
func poll(t *testing.T, what string, ask func(ctx context.Context) (bool, error)) {
	t.Helper()
	pollEvery(t, 250*time.Millisecond, what, ask)
}

func pollEvery(t *testing.T, pause time.Duration, what string, ask func(ctx context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		yes, err := ask(ctx)
		if yes {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waiting for %s: not within %v (last error: %v)", what, patience, err)
		case <-node.ended:
			t.Fatalf("waiting for %s: the node has ended: %v", what, node.err)
		case <-time.After(pause):
		}
	}
}

// wantLogged waits for a number of entries that match, among those of the kubelet's log that speak of the pod.
func (r running) wantLogged(pattern string, atLeast int) {
	r.t.Helper()
	entry := regexp.MustCompile("(?s)" + pattern)
	poll(r.t, fmt.Sprintf("the kubelet to log %q of pod %q", pattern, r.name), func(context.Context) (bool, error) {
		n := 0
		for _, text := range r.entries() {
			if entry.MatchString(text) {
				n++
			}
		}
		return n >= atLeast, nil
	})
}
