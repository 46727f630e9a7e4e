package release_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlugin unpacks the archives of the plugin for kubectl for linux: the program, which runs and has a version, and
// its licence.
func TestPlugin(t *testing.T) {
	licence, err := os.ReadFile("../../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			archive := filepath.Join(folder, "kubectl-grpc_probes-linux-"+arch+".tgz")
			if _, err := os.Stat(archive); err != nil {
				leaveOut(t, "it needs what scripts/release.sh makes: "+err.Error())
			}
			unpacked := t.TempDir()
			if out, err := exec.CommandContext(t.Context(), "tar", "-C", unpacked, "-xzf", archive).
				CombinedOutput(); err != nil {
				t.Fatalf("unpacking %s: %v\n%s", archive, err, out)
			}
			got, err := os.ReadFile(filepath.Join(unpacked, "LICENSE"))
			if err != nil || !bytes.Equal(got, licence) {
				t.Errorf("the licence is %q (%v)", got, err)
			}
			program := append(command(t, filepath.Join(unpacked, "kubectl-grpc_probes"), arch), "--version")
			out, err := exec.CommandContext(t.Context(), program[0], program[1:]...).CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "kubectl-grpc_probes v") {
				t.Errorf("%q prints %q (%v)", program, out, err)
			}
		})
	}
}
