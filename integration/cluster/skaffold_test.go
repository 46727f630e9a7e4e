package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSkaffold builds the sample app with the example, and deploys it by the manifest of a Deployment, in the folder in
// which Skaffold looks for manifests.
func TestSkaffold(t *testing.T) {
	t.Parallel()
	needPublished(t)
	s := newSpace(t)
	manifest, err := os.ReadFile(filepath.Join(repository, "examples/kubernetes/deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(repository, "examples/skaffold.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := fixture.StageSample(t.Context(), map[string]string{
		"skaffold.yaml":       strings.ReplaceAll(string(config), "registry.example.com/builders/", onMachine("")),
		"k8s/deployment.yaml": strings.ReplaceAll(string(manifest), AppImage, "my-app"),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.skaffold(folder, "build", "--push")
	s.skaffold(folder, "run", "--namespace="+s.name)

	d := deployment{s, "my-app"}
	d.untilRolledOut()
	d.wantFollowing()
}

// skaffold runs Skaffold in a folder, with the engine of this machine.
func (s space) skaffold(folder, command string, args ...string) {
	s.t.Helper()
	program, err := fixture.Tool(s.t.Context(), "skaffold")
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := cluster.Command(s.t.Context(), program, append([]string{
		command, "--default-repo=" + onMachine(s.name), "--interactive=false",
	}, args...)...)
	cmd.Dir = folder
	cmd.Env = append(docker.Env(), "KUBECONFIG="+filepath.Join(cluster.Folder(), kubeconfig), "HOME="+cluster.Folder(),
		"PATH="+cluster.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "SKAFFOLD_UPDATE_CHECK=false")
	if _, err := cluster.Run(cmd); err != nil {
		s.t.Fatal(err)
	}
}
