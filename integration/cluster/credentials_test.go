package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// serverName is in the certificate of the app: what the examples verify it for.
const serverName = "my-app.default.svc"

// TestCredentials has the servers that ask a client for something, and probes that have it.
func TestCredentials(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"tls.yaml", "mtls.yaml", "metadata.yaml"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.addSecrets()
			s.run(example(t, file, atFirstFailure)).wantFollowing("")
		})
	}
}

// TestWrongCredentials has the same servers, and probes that lack what they ask for or distrust what they show: the pod
// is not ready, and the kubelet's log has the probe's reason.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file   string
		change func(pod object)
		reason string
	}{
		"another-ca": {"tls.yaml", func(pod object) {
			volume(pod, "tls")["secret"].(object)["secretName"] = "tls-of-another-ca"
		}, "certificate"},
		"another-name": {"tls.yaml", func(pod object) {
			without(readiness(pod), "-tls-server-name=")
		}, "tls-server-name"},
		"no-client-certificate": {"mtls.yaml", func(pod object) {
			without(readiness(pod), "-tls-client-")
		}, "tls-client-cert"},
		"no-token": {"metadata.yaml", func(pod object) {
			without(readiness(pod), "-rpc-header-file=")
		}, "UNAUTHENTICATED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.addSecrets()
			r := s.run(example(t, c.file, c.change))
			r.untilProbes("Readiness", "failed", func(_, failed int) bool { return failed >= 1 })
			r.wantLogged(c.reason, 1)
			if r.untilNotReady(); t.Failed() {
				return
			}
			if passed, _ := r.probes("Readiness"); passed != 0 {
				t.Errorf("the readiness probe passed %d times, want none", passed)
			}
		})
	}
}

// TestTokenIsReadAtEachCheck changes the token in the secret.
func TestTokenIsReadAtEachCheck(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.addSecrets()
	r := s.run(example(t, "metadata.yaml"))
	r.untilReady()
	_, before := r.probes("Readiness") // the app may have been slow to start
	r.renew(func() {
		s.apply(secret("my-app-token", files{"authorization": "Bearer another"}))
	}, "token/authorization")
	passed, _ := r.probes("Readiness")
	r.untilProbes("Readiness", "passed with the new token", func(now, _ int) bool { return now > passed+1 })
	if _, failed := r.probes("Readiness"); failed != before {
		t.Errorf("the readiness probe failed %d times, want none", failed-before)
	}
}

// renew changes secrets and waits until files of the pod, by volume and key, are new.
func (r running) renew(change func(), files ...string) {
	r.t.Helper()
	pod, err := r.pod(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	read := func(file string) (string, error) {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cluster.Init()), "root", cluster.Folder(),
			"kubelet/pods", pod.Metadata.UID, "volumes/kubernetes.io~secret", file))
		return string(text), err
	}
	old := map[string]string{}
	for _, file := range files {
		if old[file], err = read(file); err != nil {
			r.t.Fatal(err)
		}
	}
	change()
	// With a change of the pod the kubelet looks at its secrets at once, and not within a minute.
	r.kubectl("annotate", "pod", r.name, "secrets=changed")
	for _, file := range files {
		poll(r.t, fmt.Sprintf("%q in pod %q to be new", file, r.name), func(context.Context) (bool, error) {
			text, err := read(file)
			return err == nil && text != old[file], err
		})
	}
}

// files are the contents of a secret by key.
type files map[string]string

// secret is a Secret of files.
func secret(name string, content files) object {
	return object{
		"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": name}, "stringData": content,
	}
}

// addSecrets makes those that the examples name.
func (s space) addSecrets() {
	s.t.Helper()
	ca, other := newAuthority(s.t), newAuthority(s.t)
	server, probe := ca.issue(s.t, serverName), ca.issue(s.t, "probe")
	server["ca.crt"], probe["ca.crt"] = ca.pem, ca.pem
	s.apply(
		secret("my-app-tls", server),
		secret("my-app-probe-tls", probe),
		secret("my-app-token", files{"authorization": "Bearer of-the-test"}),
		secret("tls-of-another-ca",
			files{"tls.crt": server["tls.crt"], "tls.key": server["tls.key"], "ca.crt": other.pem}),
	)
}

// volume is a volume of the pod.
func volume(pod object, name string) object {
	for _, v := range pod["spec"].(object)["volumes"].([]any) {
		if v.(object)["name"] == name {
			return v.(object)
		}
	}
	return nil
}

// readiness is the exec probe of the app.
func readiness(pod object) object {
	return app(pod)["readinessProbe"].(object)["exec"].(object)
}

// without takes flags from the command of a probe or of a container.
func without(of object, flag string) {
	of["command"] = slices.DeleteFunc(of["command"].([]any), func(arg any) bool {
		return strings.HasPrefix(arg.(string), flag)
	})
}
