package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// patience is how long a pod may take to come to a state: much longer than it does, for a machine that is busy.
const patience = 3 * time.Minute

// space is a namespace of one test.
type space struct {
	t    *testing.T
	name string
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// newSpace makes a namespace, which is deleted when the test has ended.
func newSpace(t *testing.T) space {
	t.Helper()
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(strings.TrimPrefix(t.Name(), "Test")), "-"), "-")
	s := space{t, fmt.Sprintf("%.50s-%s", name, strings.ToLower(rand.Text()[:5]))}
	if err := cluster.Create(t.Context(), "/api/v1/namespaces", object{
		"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": s.name},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			s.describe()
		}
		if err := cluster.Delete(context.Background(), "/api/v1/namespaces/"+s.name); err != nil {
			t.Error(err)
		}
	})
	// The API server refuses pods before the account is there.
	poll(t, "the namespace to have its account", func(ctx context.Context) (bool, error) {
		err := cluster.Read(ctx, s.path("serviceaccounts/default"), new(struct{}))
		return err == nil, err
	})
	return s
}

// describe writes a file about the namespace of a test that failed, beside the programs' logs.
func (s space) describe() {
	var text strings.Builder
	for _, what := range [][]string{
		{"get", "all,endpointslices", "--output=wide"}, {"get", "events", "--output=wide"}, {"describe", "pods"},
	} {
		out, err := cluster.Kubectl(context.Background(), append(what, "--namespace="+s.name)...)
		fmt.Fprintf(&text, "%s:\n%s(error: %v)\n\n", strings.Join(what, " "), out, err)
	}
	fmt.Fprintf(&text, "the kubelet's log:\n%s", strings.Join(s.entries(""), ""))
	file := filepath.Join(logs, s.name+".txt")
	s.t.Logf("what was in the namespace is in %q (%v)", file, os.WriteFile(file, []byte(text.String()), 0o644))
}

// path is that of a resource of the API version v1, such as pods/my-app, in the API server.
func (s space) path(resource string) string {
	return "/api/v1/namespaces/" + s.name + "/" + resource
}

// kubectl runs kubectl in the namespace.
func (s space) kubectl(args ...string) string {
	s.t.Helper()
	out, err := cluster.Kubectl(s.t.Context(), append([]string{"--namespace=" + s.name}, args...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// apply applies resources with kubectl.
func (s space) apply(resources ...object) {
	s.t.Helper()
	var manifest strings.Builder
	for _, resource := range resources {
		text, err := json.Marshal(resource)
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(&manifest, "---\n%s\n", text)
	}
	_, err := cluster.KubectlWith(s.t.Context(), strings.NewReader(manifest.String()),
		"apply", "--namespace="+s.name, "--filename=-")
	if err != nil {
		s.t.Fatal(err)
	}
}

// read decodes a resource of the API version v1.
func (s space) read(ctx context.Context, resource string, into any) error {
	return cluster.Read(ctx, s.path(resource), into)
}

// event is a message about a pod.
type event struct {
	InvolvedObject        struct{ Kind, Name string }
	Type, Reason, Message string
	Count                 int
}

// events are the messages of a reason, such as Unhealthy, about a resource.
func (s space) events(ctx context.Context, name, reason string) ([]event, error) {
	var list struct{ Items []event }
	err := s.read(ctx, "events", &list)
	var found []event
	for _, e := range list.Items {
		if e.InvolvedObject.Name == name && e.Reason == reason {
			found = append(found, e)
		}
	}
	return found, err
}

// untilEvent waits for an event about a resource whose message matches.
func (s space) untilEvent(name, reason, pattern string) {
	s.t.Helper()
	message := regexp.MustCompile("(?s)" + pattern)
	poll(s.t, fmt.Sprintf("an event %s of %q like %q", reason, name, pattern),
		func(ctx context.Context) (bool, error) {
			events, err := s.events(ctx, name, reason)
			for _, e := range events {
				if message.MatchString(e.Message) {
					return true, nil
				}
			}
			return false, errors.Join(err, fmt.Errorf("there are %+v", events))
		})
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
		case <-cluster.Ended():
			t.Fatalf("waiting for %s: the cluster has ended: %v", what, cluster.Err())
		case <-time.After(pause):
		}
	}
}
