package kubelet

import (
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
			run(t, example(t, file, withSecrets(t, secrets(t)))).untilReady()
		})
	}
}

// TestWrongCredentials has the same servers, and probes that lack what they ask for or distrust what they show: the pod is
// not ready, and the kubelet's log has the probe's reason.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file   string
		change func(t *testing.T, pod object)
		reason string
	}{
		"another-ca": {"tls.yaml", func(t *testing.T, pod object) {
			volume(pod, "tls")["secret"].(object)["secretName"] = "tls-of-another-ca"
		}, "certificate"},
		"another-name": {"tls.yaml", func(t *testing.T, pod object) {
			without(pod, "-tls-server-name=")
		}, "tls-server-name"},
		"no-client-certificate": {"mtls.yaml", func(t *testing.T, pod object) {
			without(pod, "-tls-client-")
		}, "tls-client-cert"},
		"no-token": {"metadata.yaml", func(t *testing.T, pod object) {
			without(pod, "-rpc-header-file=")
		}, "UNAUTHENTICATED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := example(t, c.file, named(name))
			c.change(t, pod)
			withSecrets(t, secrets(t))(pod)
			r := run(t, pod)
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

// TestTokenIsReadAtEachCheck changes the token in the mounted file.
func TestTokenIsReadAtEachCheck(t *testing.T) {
	t.Parallel()
	pod := example(t, "metadata.yaml", named("new-token"), withSecrets(t, secrets(t)))
	folder := volume(pod, "token")["hostPath"].(object)["path"].(string)
	r := run(t, pod)
	r.untilReady()
	files{"authorization": "Bearer another"}.write(t, folder)
	passed, _ := r.probes("Readiness")
	r.untilProbes("Readiness", "passed with the new token", func(now, _ int) bool { return now > passed+1 })
	if _, failed := r.probes("Readiness"); failed != 0 {
		t.Errorf("the readiness probe failed %d times, want none", failed)
	}
}

// secrets are those that the examples name, made anew.
func secrets(t *testing.T) map[string]files {
	t.Helper()
	ca, other := newAuthority(t), newAuthority(t)
	server, probe := ca.issue(t, serverName), ca.issue(t, "probe")
	server["ca.crt"], probe["ca.crt"] = ca.pem, ca.pem
	return map[string]files{
		"my-app-tls":        server,
		"my-app-probe-tls":  probe,
		"my-app-token":      {"authorization": "Bearer of-the-test"},
		"tls-of-another-ca": {"tls.crt": server["tls.crt"], "tls.key": server["tls.key"], "ca.crt": other.pem},
	}
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

// without takes flags from the readiness probe's command.
func without(pod object, flag string) {
	exec := app(pod)["readinessProbe"].(object)["exec"].(object)
	var command []string
	for _, arg := range exec["command"].([]any) {
		if arg := arg.(string); !strings.HasPrefix(arg, flag) {
			command = append(command, arg)
		}
	}
	exec["command"] = command
}
