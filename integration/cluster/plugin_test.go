package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// movedImage is the app at another port, as its build says.
const movedImage = "registry.example.com/my-app:1.0.3"

// shop is a Deployment of two containers, of which the first one's image has probes.
const shop = `# The shop, and a container of another maker.
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
        - name: my-app   # ours
          image: ` + AppImage + `
          args: ["-grpc=:5000"]
          # what follows

        # theirs
        - name: other
          image: ` + OtherImage + `
          args: ["-grpc=127.0.0.1:6002", "-http=:8081"]
`

// plugin is the plugin for kubectl, and where it reads images.
type plugin struct {
	space
	path string
}

// newPlugin compiles the plugin.
func newPlugin(s space) plugin {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "kubectl-grpc_probes")
	module := filepath.Join(fixture.Repository(), "cmd/kubectl-grpc_probes")
	compile := exec.CommandContext(s.t.Context(), "go", "-C", module, "build", "-o", path, ".")
	if out, err := compile.CombinedOutput(); err != nil {
		s.t.Fatalf("compiling the plugin: %v\n%s", err, out)
	}
	return plugin{s, path}
}

// run runs a command of the plugin on a file, and returns what it prints and its exit code. It is about native probes,
// which have a port: exec probes follow the image by themselves.
func (p plugin) run(command, file string, flags ...string) (out string, code int) {
	p.t.Helper()
	args := append([]string{command, "--filename=" + file, "--kind=native"}, flags...)
	for _, image := range []string{AppImage, OtherImage, movedImage} {
		_, name, _ := strings.Cut(image, "/")
		args = append(args, "--image="+image+"="+cluster.Registry()+"/"+name)
	}
	cmd := exec.CommandContext(p.t.Context(), p.path, args...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// TestPluginFollowsTheImage patches a Deployment, whose app then moves to another port: the plugin says so, the probe
// in the pod says where the app is, and the Deployment is patched anew.
func TestPluginFollowsTheImage(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	p := newPlugin(s)
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(shop), 0o600); err != nil {
		t.Fatal(err)
	}
	d := deployment{s, "shop"}
	rollOut := func() {
		t.Helper()
		s.kubectl("apply", "--filename="+file)
		d.untilRolledOut()
	}
	if out, code := p.run("patch", file); code != 0 {
		t.Fatalf("patch exits with %d: %s", code, out)
	}
	patched, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(shop, "\n\n")
	if text := string(patched); !strings.HasPrefix(text, before+"\n          readinessProbe:\n") ||
		!strings.HasSuffix(text, "\n\n"+after) {
		t.Errorf("patch has changed more than the probe:\n%s", text)
	}
	rollOut()

	pushMoved(t)
	moved := strings.NewReplacer(AppImage, movedImage, "-grpc=:5000", "-grpc=:6001").Replace(string(patched))
	if err := os.WriteFile(file, []byte(moved), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := p.run("check", file); code != 1 || !strings.Contains(out, "answers at 6001") {
		t.Errorf("check exits with %d: %s", code, out)
	}
	if out, code := p.run("patch", file, "--replace"); code != 0 {
		t.Fatalf("patch exits with %d: %s", code, out)
	}
	rollOut()
	pods := d.running()
	if len(pods) != 1 {
		t.Fatalf("there are %d pods, want one", len(pods))
	}
	out, err := cluster.Run(cluster.Command(t.Context(), p.path, "discover", pods[0].name, "--namespace="+s.name,
		"--container=my-app"))
	if err != nil || !strings.Contains(out, "port: 6001") && !strings.Contains(out, harness.ProbePath) {
		t.Errorf("discover prints %q (%v)", out, err)
	}
}

// pushMoved builds the image of the app at another port.
func pushMoved(t *testing.T) {
	t.Helper()
	app, err := fixture.StageSample(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	image, err := docker.Build(t.Context(), harness.Build{
		Name: "app-moved", App: app, Buildpack: fixture.Dist("buildpack"),
		Env: []string{"BP_GRPC_HEALTH_PROBE_ARGS=-addr=localhost:6001"},
	})
	if err == nil {
		err = cluster.Push(t.Context(), movedImage, image.Image)
	}
	if err != nil {
		t.Fatal(err)
	}
}
