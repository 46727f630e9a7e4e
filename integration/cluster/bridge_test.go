package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The programs in a pod with a bridge, by the name of their process, of which the kernel keeps 15 characters.
const (
	serverProcess = "server"
	bridgeProcess = "grpc_health_bri"
)

// TestBridgeHasCredentials has a server that wants a client's certificate, and one that wants a token too. Kubernetes'
// own probe, which has neither (TestNativeHasNoCredentials), passes by way of the bridge.
func TestBridgeHasCredentials(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(object){
		"certificate":           func(object) {},
		"certificate-and-token": withToken,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.addSecrets()
			s.run(example(t, "bridge.yaml", change)).wantFollowing("")
		})
	}
}

// withToken has the app want a token, as in metadata.yaml, which the bridge has.
func withToken(pod object) {
	wantingToken(pod)
	mountToken(sidecar(pod), "command", "-rpc-header-file=authorization=/token/authorization")
}

// wantingToken has the app want a token.
func wantingToken(pod object) {
	spec := pod["spec"].(object)
	spec["volumes"] = append(spec["volumes"].([]any),
		object{"name": "token", "secret": object{"secretName": "my-app-token"}})
	mountToken(app(pod), "args", "-authorization-file=/token/authorization")
}

// mountToken has a container read the token, by a flag in its list of that name.
func mountToken(container object, list, flag string) {
	container[list] = append(container[list].([]any), flag)
	container["volumeMounts"] = append(container["volumeMounts"].([]any),
		object{"name": "token", "mountPath": "/token"})
}

// TestBridgeWithWrongCredentials has the same servers, and bridges that lack what they ask for, or distrust what they
// show: the app is not started in the kubelet's eyes, its events have the status, and the bridge's log the cause.
func TestBridgeWithWrongCredentials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flag, cause string
	}{
		"no-client-certificate": {"-tls-client-", "tls-client-cert"},
		"another-name":          {"-tls-server-name=", "tls-server-name"},
		"no-token":              {"-rpc-header-file=", "UNAUTHENTICATED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.addSecrets()
			r := s.run(example(t, "bridge.yaml", withToken, func(pod object) { without(sidecar(pod), c.flag) }))
			r.untilEvent(r.name, "Unhealthy", `^Startup probe failed: .*"NOT_SERVING"`)
			poll(t, fmt.Sprintf("the bridge to log %q", c.cause), func(context.Context) (bool, error) {
				log := r.kubectl("logs", r.name, "--container=health-bridge")
				return strings.Contains(log, c.cause), errors.New(log)
			})
			if passed, _ := r.probes("Startup"); passed != 0 {
				t.Errorf("the startup probe passed %d times, want none", passed)
			}
		})
	}
}

// signal sends a signal to the process of a program in the pod.
func (r running) signal(process string, signal unix.Signal) {
	r.t.Helper()
	pid := programIn(r.t, r.group(), process)
	if pid == 0 {
		r.t.Fatalf("pod %q has no process %q", r.name, process)
	}
	if err := unix.Kill(pid, signal); err != nil {
		r.t.Fatalf("sending %v to %q of pod %q: %v", signal, process, r.name, err)
	}
}

// wantRestarts waits until the pod is ready after so many restarts of the app and of the bridge. As many liveness
// probes pass then as may fail, so that a restart that is on its way would be seen.
func (r running) wantRestarts(app, bridge int) {
	r.t.Helper()
	restarts := func(p Pod) [2]int { return [...]int{p.App().RestartCount, p.Sidecar().RestartCount} }
	want := [...]int{app, bridge}
	r.until(fmt.Sprintf("ready after %v restarts of the app and the bridge", want), func(p Pod) bool {
		return p.Ready() && restarts(p) == want
	})
	passed, _ := r.probes("Liveness")
	r.untilProbes("Liveness", "passed as often as it may fail", func(now, _ int) bool { return now >= passed+3 })
	if got := restarts(r.untilReady()); got != want {
		r.t.Errorf("app and bridge of pod %q were restarted %v times, want %v", r.name, got, want)
	}
}

// bridged is a pod with a bridge, whose liveness probe is made often, so that it takes less time.
func bridged(t *testing.T, changes ...func(object)) running {
	t.Helper()
	return run(t, example(t, viaBridge, append(changes, func(pod object) {
		app(pod)["livenessProbe"].(object)["periodSeconds"] = 2
	})...))
}

// TestBridgeTellsHungFromNotServing has a server that does not answer any more, and is restarted, and one that says
// NOT_SERVING, which is not. The bridge never is.
func TestBridgeTellsHungFromNotServing(t *testing.T) {
	t.Parallel()
	t.Run("hung", func(t *testing.T) {
		t.Parallel()
		r := bridged(t)
		r.untilReady()
		r.signal(serverProcess, unix.SIGSTOP)
		r.untilEvent(r.name, "Killing", "my-app failed liveness probe, will be restarted")
		r.wantRestarts(1, 0)
	})
	t.Run("not-serving", func(t *testing.T) {
		t.Parallel()
		bridged(t).staysAliveWhenNotServing()
	})
}

// staysAliveWhenNotServing has the app say NOT_SERVING: the app gets no traffic, and is not restarted.
func (r running) staysAliveWhenNotServing() {
	r.t.Helper()
	r.untilReady()
	r.control("/make-not-serving")
	r.untilNotReadyWithinTwoPeriods()
	passed, _ := r.probes("Liveness")
	r.untilProbes("Liveness", "passed more often than it may fail", func(now, _ int) bool { return now > passed+3 })
	r.control("/make-serving")
	r.wantRestarts(0, 0)
}

// TestBridgeAndServerRestartAlone kills the one and the other: the kubelet starts it again, the other one goes on, and
// the bridge finds the new server.
func TestBridgeAndServerRestartAlone(t *testing.T) {
	t.Parallel()
	for process, restarts := range map[string]struct{ app, bridge int }{
		serverProcess: {app: 1},
		bridgeProcess: {bridge: 1},
	} {
		t.Run(process, func(t *testing.T) {
			t.Parallel()
			r := run(t, example(t, viaBridge))
			r.untilReady()
			r.signal(process, unix.SIGKILL)
			r.wantRestarts(restarts.app, restarts.bridge)
		})
	}
}

// TestBridgeTakesRotatedCertificates has all certificates replaced by those of another CA, which the server takes when
// it is started again, and the bridge without that.
func TestBridgeTakesRotatedCertificates(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.addSecrets()
	r := s.run(example(t, "bridge.yaml"))
	r.untilReady()
	r.renew(s.addSecrets, "tls/ca.crt", "tls/tls.crt", "probe-tls/tls.crt", "probe-tls/tls.key")
	r.signal(serverProcess, unix.SIGKILL)
	r.wantRestarts(1, 0)
}

// endWhileTheBridgeAnswers deletes a pod whose app ignores the signal. The bridge answers as long as the app runs; then
// the app is killed.
func (r running) endWhileTheBridgeAnswers() {
	r.t.Helper()
	pod := r.untilReady()
	r.kubectl("delete", "pod", r.name, "--wait=false")
	r.untilEvent(r.name, "Killing", "Stopping container my-app")
	answers := 0
	poll(r.t, "the bridge to answer ten times more", func(ctx context.Context) (bool, error) {
		if _, err := cluster.HTTP(ctx, "http://"+pod.Status.PodIP+":8086/readyz"); err != nil {
			r.t.Fatalf("the bridge of an app that is still running: %v", err)
		}
		answers++
		return answers == 10, nil
	})
	r.signal(serverProcess, unix.SIGKILL)
}

// TestBridgeEndsAfterTheApp deletes a pod whose app takes its time to end. The bridge answers as long as the app runs,
// and then ends by itself.
func TestBridgeEndsAfterTheApp(t *testing.T) {
	t.Parallel()
	r := run(t, example(t, viaBridge, withArgs("-ignore-sigterm"), func(pod object) {
		pod["metadata"].(object)["finalizers"] = []string{"example.com/kept-for-the-test"} // it shows how the pod ended
		pod["spec"].(object)["terminationGracePeriodSeconds"] = int(2 * patience / time.Second)
		delete(app(pod), "lifecycle")
	}))
	r.endWhileTheBridgeAnswers()
	ended := r.until("ended", func(p Pod) bool {
		return p.App().State.Terminated != nil && p.Sidecar().State.Terminated != nil
	})
	if got := ended.Sidecar().State.Terminated.Reason; got != "Completed" {
		t.Errorf("the bridge ended for the reason %q, want %q, which is the exit code 0", got, "Completed")
	}
	r.kubectl("patch", "pod", r.name, "--type=merge", `--patch={"metadata":{"finalizers":null}}`)
}
