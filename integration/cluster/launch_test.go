package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// launcher is the lifecycle's, by its path in each image.
const launcher = "/cnb/lifecycle/launcher"

// launched is the pod of the example whose launcher starts the bridge, with a liveness probe that is made often, so
// that it takes less time.
func launched(t *testing.T, changes ...func(object)) object {
	t.Helper()
	return example(t, viaLaunch, append([]func(object){func(pod object) {
		app(pod)["livenessProbe"].(object)["periodSeconds"] = 2
	}}, changes...)...)
}

// log is what the app's container has logged.
func (r running) log() string {
	r.t.Helper()
	return r.kubectl("logs", r.name, "--container=my-app")
}

// untilLogged waits for words in the log of the app's container, which may not have started yet.
func (r running) untilLogged(words string) {
	r.t.Helper()
	poll(r.t, fmt.Sprintf("pod %q to log %q", r.name, words), func(ctx context.Context) (bool, error) {
		log, err := cluster.Kubectl(ctx, "logs", r.name, "--container=my-app", "--namespace="+r.space.name)
		return strings.Contains(log, words), errors.Join(err, errors.New(log))
	})
}

// TestLaunchedBridgeHasCredentials has a server that wants a client's certificate. Kubernetes' own probe, which has
// none, passes by way of the bridge in the server's own container.
func TestLaunchedBridgeHasCredentials(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.addSecrets()
	s.run(example(t, "launch.yaml")).wantFollowing("")
}

// TestLaunchedBridgeIsKilled kills the bridge, which nothing but a restart of the container brings back: the liveness
// probe has the kubelet do that, whatever the container's first process is.
func TestLaunchedBridgeIsKilled(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, pod object){
		"Go":   func(*testing.T, object) {},
		"Java": underJava,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, launched(t, func(pod object) { change(t, pod) }))
			r.untilReady()
			r.signal(bridgeProcess, unix.SIGKILL)
			r.untilEvent(r.name, "Killing", "my-app failed liveness probe, will be restarted")
			r.wantRestarts(1, 0)
		})
	}
}

// underJava has an app in Java start the server. The Java is this machine's.
func underJava(t *testing.T, pod object) {
	t.Helper()
	compiler, err := exec.LookPath("javac") // java runs a source if it can compile it
	if err == nil {
		compiler, err = filepath.EvalSymlinks(compiler) // by way of /etc/alternatives
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	source, err := filepath.Abs(repository + "/probe/bridge/background/testdata")
	if err != nil {
		t.Fatal(err)
	}
	mountPrograms(t, pod, map[string]string{"/source": source})
	java := filepath.Join(filepath.Dir(compiler), "java")
	app(pod)["env"] = []object{{"name": "GRPC_HEALTH_BRIDGE_BACKGROUND", "value": "true"}}
	app(pod)["command"] = []string{launcher, "--", java, "/source/App.java", "/workspace/server"}
}

// mountPrograms has the app's container find this machine's programs, and what is in the folders besides.
func mountPrograms(t *testing.T, pod object, folders map[string]string) {
	t.Helper()
	for _, pattern := range []string{"/usr", "/lib", "/lib64", "/etc/java-*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range found {
			folders[folder] = folder
		}
	}
	var volumes, mounts []object
	for in, folder := range folders {
		name := fmt.Sprintf("folder-%d", len(volumes))
		volumes = append(volumes, object{"name": name, "hostPath": object{"path": folder}})
		mounts = append(mounts, object{"name": name, "mountPath": in, "readOnly": true})
	}
	pod["spec"].(object)["volumes"], app(pod)["volumeMounts"] = volumes, mounts
}

// TestLaunchedBridgeTellsHungFromNotServing has a server that does not answer any more, and is restarted, and one that
// says NOT_SERVING, which is not.
func TestLaunchedBridgeTellsHungFromNotServing(t *testing.T) {
	t.Parallel()
	t.Run("hung", func(t *testing.T) {
		t.Parallel()
		r := run(t, launched(t))
		r.untilReady()
		r.signal(serverProcess, unix.SIGSTOP)
		r.wantRestarts(1, 0)
	})
	t.Run("not-serving", func(t *testing.T) {
		t.Parallel()
		run(t, launched(t)).staysAliveWhenNotServing()
	})
}

// TestLaunchedBridgeEndsWithTheApp deletes a pod whose app takes its time to end. The bridge answers as long as the app
// runs, and ends with it: nothing else has to end it.
func TestLaunchedBridgeEndsWithTheApp(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(object){
		"processes of its own": func(object) {},
		"shared processes":     func(pod object) { pod["spec"].(object)["shareProcessNamespace"] = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, launched(t, withArgs("-ignore-sigterm"), change, func(pod object) {
				pod["spec"].(object)["terminationGracePeriodSeconds"] = int(2 * patience / time.Second)
				delete(app(pod), "lifecycle")
			}))
			r.untilReady()
			group := r.group()
			r.endWhileTheBridgeAnswers()
			poll(t, "the processes of the pod to be gone", func(context.Context) (bool, error) {
				left := processes(t, group)
				return len(left) == 0, fmt.Errorf("there are %v", left)
			})
		})
	}
}

// TestLaunchedBridgeWithSharedProcesses restarts a container whose processes are not its own: the bridge goes with the
// container, or the next one would find its port taken.
func TestLaunchedBridgeWithSharedProcesses(t *testing.T) {
	t.Parallel()
	r := run(t, launched(t, func(pod object) { pod["spec"].(object)["shareProcessNamespace"] = true }))
	r.untilReady()
	r.untilLogged("grpc_health_bridge: listening on ")
	r.signal(serverProcess, unix.SIGKILL)
	r.wantRestarts(1, 0)
	r.untilLogged("grpc_health_bridge: listening on ")
}

// TestSecondLauncherSaysNothing runs another launcher in the container, as one does to have the app's environment.
func TestSecondLauncherSaysNothing(t *testing.T) {
	t.Parallel()
	r := run(t, launched(t))
	r.untilReady()
	r.untilLogged("grpc_health_bridge: live: ") // the last first answer that the container's own bridge logs
	before := r.log()
	cmd := cluster.Command(t.Context(), "kubectl", "--namespace="+r.space.name, "exec", r.name, "--container=my-app",
		"--", launcher, "--", harness.ProbePath, "-wait=1m")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cluster.Launch(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if got := out.String(); err != nil || got != "status: SERVING\n" {
		t.Errorf("the second launcher printed %q (%v), want the probe's line alone", got, err)
	}
	if after := r.log(); after != before {
		t.Errorf("the container's log has more: %s", strings.TrimPrefix(after, before))
	}
	r.wantRestarts(0, 0)
}

// TestContainerPastTheLauncher has a container with a command of its own, which does not begin with the launcher. There
// is no bridge then, and the event has words that docs/troubleshooting.md quotes.
func TestContainerPastTheLauncher(t *testing.T) {
	t.Parallel()
	r := run(t, launched(t, func(pod object) { app(pod)["command"] = []string{"/workspace/server"} }))
	const words = `probe failed: timeout: failed to connect service "`
	r.untilEvent(r.name, "Unhealthy", "^Startup "+words+`[0-9.]+:8086" within `)
	if log := r.log(); strings.Contains(log, "grpc_health_bridge") {
		t.Errorf("there is a bridge: %s", log)
	}
	document, err := os.ReadFile(repository + "/docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(document), words) {
		t.Errorf("docs/troubleshooting.md does not quote %q", words)
	}
}

// TestLaunchedBridgeInOtherContainers has init containers and a job of the same image: they end, and the app's bridge
// has its port. A worker that wants no bridge has none.
func TestLaunchedBridgeInOtherContainers(t *testing.T) {
	t.Parallel()
	once := func(pod object, name string) object {
		return object{
			"name": name, "image": app(pod)["image"],
			"command": []string{launcher, "--", harness.ProbePath}, "args": []string{"-version"},
		}
	}
	r := run(t, launched(t, func(pod object) {
		worker := object{
			"name": "worker", "image": app(pod)["image"], "args": []string{"-grpc=:5001", "-http=:8081"},
			"env": []object{{"name": "GRPC_HEALTH_BRIDGE_BACKGROUND", "value": "false"}},
		}
		spec := pod["spec"].(object)
		spec["initContainers"] = []object{once(pod, "first"), once(pod, "second")}
		spec["containers"] = append(spec["containers"].([]any), worker)
	}))
	r.untilReady()
	r.wantRestarts(0, 0)
	if log := r.kubectl("logs", r.name, "--container=worker"); strings.Contains(log, "grpc_health_bridge") {
		t.Errorf("the worker has a bridge: %s", log)
	}

	job := run(t, launched(t, named("job"), func(pod object) {
		pod["spec"].(object)["containers"] = []object{once(pod, "job")}
		pod["spec"].(object)["restartPolicy"] = "Never"
	}))
	job.until("ended", func(p Pod) bool { return p.Status.Phase == "Succeeded" })
}

// TestLaunchedBridgeInJobThatWaits has a job that asks for a bridge, and waits until it has no children.
func TestLaunchedBridgeInJobThatWaits(t *testing.T) {
	t.Parallel()
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip(err)
	}
	job := run(t, launched(t, named("waits"), func(pod object) {
		container := app(pod)
		container["command"] = []string{
			launcher, "--", perl, "-e", `for(1..3){my $p=fork; if(!$p){exit 0}} sleep 2; 1 while wait()!=-1`,
		}
		container["env"] = []object{{"name": "GRPC_HEALTH_BRIDGE_BACKGROUND", "value": "true"}}
		for _, name := range []string{"startupProbe", "readinessProbe", "livenessProbe", "lifecycle"} {
			delete(container, name)
		}
		mountPrograms(t, pod, map[string]string{})
		pod["spec"].(object)["restartPolicy"] = "Never"
	}))
	job.until("ended", func(p Pod) bool { return p.Status.Phase == "Succeeded" })
	if log := job.log(); !strings.Contains(log, "grpc_health_bridge: the app waits until it has no children") {
		t.Errorf("the log does not say why the bridge ended: %s", log)
	}
}

// TestPodsInTheNodesNetwork has two pods in the node's network. The second one's probe reaches the first one's bridge,
// fails, and its events say whose bridge that is.
func TestPodsInTheNodesNetwork(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.run(example(t, "host-network.yaml", withArgs("-grpc=:5002", "-http=:8082"), func(pod object) {
		// The node's registry has port 5000.
		app(pod)["env"] = append(app(pod)["env"].([]any),
			object{"name": "GRPC_HEALTH_PROBE_ADDR", "value": "localhost:5002"})
	})).untilReady()
	second := s.run(example(t, "host-network.yaml", named("second"), withArgs("-grpc=:5001", "-http=:8081"),
		func(pod object) {
			delete(app(pod), "ports") // or it would be pending
			app(pod)["env"].([]any)[1].(object)["value"] = "second"
			app(pod)["readinessProbe"].(object)["grpc"].(object)["service"] = "ready@second"
			delete(app(pod), "livenessProbe")
		}))
	second.untilLogged(`grpc_health_bridge: error: listening on ":8186": address already in use`)
	second.untilEvent(second.name, "Unhealthy",
		`^Readiness probe failed: .*the bridge on this port is named "my-app", and answers for @my-app only`)
}

// TestLaunchedBridgeLockedDown has a container that may do nothing, with little memory and processor time.
func TestLaunchedBridgeLockedDown(t *testing.T) {
	t.Parallel()
	r := run(t, launched(t, func(pod object) {
		app(pod)["securityContext"] = object{
			"runAsNonRoot": true, "runAsUser": 54321, "runAsGroup": 0, "readOnlyRootFilesystem": true,
			"allowPrivilegeEscalation": false, "capabilities": object{"drop": []string{"ALL"}},
			"seccompProfile": object{"type": "RuntimeDefault"},
		}
		app(pod)["resources"] = object{"limits": object{"memory": "32Mi", "cpu": "50m"}}
	}))
	r.untilReady()
	r.untilLogged("grpc_health_bridge: listening on ")
	r.wantRestarts(0, 0)
}

// TestLaunchedBridgeAndNoMemory has an app that takes more and more memory. The kernel kills the app, which has the
// most, and the container is restarted with its bridge.
func TestLaunchedBridgeAndNoMemory(t *testing.T) {
	t.Parallel()
	r := run(t, launched(t, func(pod object) {
		app(pod)["resources"] = object{"limits": object{"memory": "48Mi"}}
	}))
	r.untilReady()
	r.leak(func() {})
	r.wantRestarts(1, 0)
}

// TestPostStart has an image that no buildpack made, with the bridge from an image volume, which a hook of the
// container starts.
func TestPostStart(t *testing.T) {
	t.Parallel()
	r := run(t, example(t, "post-start.yaml"))
	r.wantFollowing("")
	r.untilLogged("grpc_health_bridge: listening on ")
}

// TestPostStartThatCannotStart has a hook whose bridge cannot start. The container is not killed for that, and its log
// says why the probes fail.
func TestPostStartThatCannotStart(t *testing.T) {
	t.Parallel()
	r := run(t, example(t, "post-start.yaml", func(pod object) {
		hook := app(pod)["lifecycle"].(object)["postStart"].(object)["exec"].(object)
		hook["command"] = append(hook["command"].([]any), "-mode=sideways")
	}))
	r.untilLogged(`grpc_health_bridge: error: checking flags: -mode is ready, live or connect, not "sideways"`)
	r.untilEvent(r.name, "Unhealthy", `^Readiness probe failed: timeout: failed to connect service `)
	if events, err := r.events(t.Context(), r.name, "FailedPostStartHook"); err != nil || len(events) > 0 {
		t.Errorf("the hook failed: %+v (%v)", events, err)
	}
}
