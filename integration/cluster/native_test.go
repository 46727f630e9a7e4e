package cluster

import "testing"

// asNative puts Kubernetes' own gRPC probe in the place of an exec probe.
func asNative(kind string) func(object) {
	return func(pod object) {
		probe := app(pod)[kind].(object)
		delete(probe, "exec")
		probe["grpc"] = object{"port": 5000}
	}
}

// TestNativeFollowsTheServer is what Kubernetes' own gRPC probe can do as well.
func TestNativeFollowsTheServer(t *testing.T) {
	t.Parallel()
	run(t, example(t, "native.yaml")).wantFollowing("")
}

// TestNativeHasNoCredentials has servers that the exec probe passes (TestCredentials) and Kubernetes' own does not.
func TestNativeHasNoCredentials(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tls", "mtls", "metadata"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.addSecrets()
			pod := s.run(example(t, name+".yaml", asNative("readinessProbe")))
			pod.untilProbes("Readiness", "failed", func(_, failed int) bool { return failed >= 3 })
			if passed, _ := pod.probes("Readiness"); passed != 0 {
				t.Errorf("the readiness probe passed %d times, want none", passed)
			}
		})
	}
}

// asNativeTLS puts Kubernetes' own gRPC probe over TLS in the place of an exec probe.
func asNativeTLS(pod object) {
	asNative("readinessProbe")(pod)
	app(pod)["readinessProbe"].(object)["grpc"].(object)["mode"] = "TLS"
}

// TestNativeTLSVerifiesNothing has Kubernetes' own probe over TLS, which is alpha. It passes a server whose certificate
// it has no CA for and that does not name the address that it asks. It has no certificate for a server that wants one,
// and no token.
func TestNativeTLSVerifiesNothing(t *testing.T) {
	t.Parallel()
	t.Run("tls", func(t *testing.T) {
		t.Parallel()
		s := newSpace(t)
		s.addSecrets()
		s.run(example(t, "tls.yaml", atFirstFailure, asNativeTLS)).wantFollowing("")
	})
	for name, c := range map[string]struct {
		file   string
		change func(object)
	}{
		"certificate": {"mtls.yaml", func(object) {}},
		"token":       {"tls.yaml", wantingToken},
		"plain-text":  {"probes.yaml", func(object) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.addSecrets()
			pod := s.run(example(t, c.file, c.change, asNativeTLS, func(pod object) {
				delete(app(pod), "startupProbe")
				delete(app(pod), "livenessProbe")
			}))
			pod.untilProbes("Readiness", "failed", func(_, failed int) bool { return failed >= 3 })
			if passed, _ := pod.probes("Readiness"); passed != 0 {
				t.Errorf("the readiness probe passed %d times, want none", passed)
			}
		})
	}
}

// TestNativeAsksForOneService has a server of which one service fails (TestServices), and another in the eyes of
// Kubernetes' own probe, which asks for the whole server.
func TestNativeAsksForOneService(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "services.yaml", asNative("readinessProbe")))
	pod.untilReady()
	pod.control("/make-not-serving?service=shop.Payments")
	before, _ := pod.probes("Readiness")
	pod.untilProbes("Readiness", "passed anyway", func(passed, _ int) bool { return passed >= before+2 })
	if _, failed := pod.probes("Readiness"); failed != 0 {
		t.Errorf("the readiness probe failed %d times, want none", failed)
	}
}

// TestNativeRestartsWhatIsNotReady has a server that says NOT_SERVING, which the exec probe takes for alive
// (TestLiveIsNotReady).
func TestNativeRestartsWhatIsNotReady(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "live-and-ready.yaml", asNative("livenessProbe")))
	pod.untilReady()
	pod.control("/make-not-serving")
	pod.until("restarted", func(p Pod) bool { return p.App().RestartCount == 1 })
}
