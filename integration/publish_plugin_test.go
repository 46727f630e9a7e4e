package integration

import (
	"debug/elf"
	"os/exec"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestPluginImage pulls the image of the plugin for kubectl for each platform.
func TestPluginImage(t *testing.T) {
	t.Parallel()
	needDocker(t)
	p := must(publication())(t)
	wantPrograms(t, p.registry, p.plugin, map[string]elf.Machine{
		"linux/amd64": elf.EM_X86_64, "linux/arm64": elf.EM_AARCH64,
	}, "kubectl-grpc_probes")
}

// TestPluginImageIsAFunction runs the image as kustomize runs the function of a container, with and without a network.
func TestPluginImageIsAFunction(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform, p := must(docker())(t), must(publication())(t)
	image := must(p.registry.Push("with-probes", must(probed())(t).Image))(t)
	list := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: Pod\n" +
		"  spec:\n    containers:\n    - name: app\n      image: " + image + "\n"
	function := func(network string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "docker", "run", "--rm", "--interactive", "--network", network,
			"--user", "nobody", "--security-opt=no-new-privileges", p.plugin.String())
		cmd.Env, cmd.Stdin = platform.Env(), strings.NewReader(list)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := function("host")
	if err != nil || !strings.Contains(out, harness.ProbePath) {
		t.Errorf("the function ends with %v: %s", err, out)
	}
	if out, err := function("none"); err == nil || !strings.Contains(out, "--skip-unreadable") {
		t.Errorf("without a network it ends with %v: %s", err, out)
	}
}
