package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

// forgery is a clone from which a small release was made and signed, and what an attacker has who can change all of it
// but has not the key.
type forgery struct {
	clone           string
	env             []string
	publisher       publisher
	version         string
	buildpack, mine string // names of repositories: the buildpack's, and one of the attacker
	probe, plugin   string
	commit          string // of the clone
}

func newForgery(t *testing.T) *forgery {
	t.Helper()
	registry := must(fixture.Distribution(t.Context(), harness.Login{}))(t)
	t.Cleanup(func() { _ = registry.Close() })
	f := &forgery{
		clone: checkout(t), publisher: newPublisher(t), version: must(documents.Version(".."))(t),
		buildpack: registry.Name("health-probe"), probe: registry.Name("grpc-health-probe"),
		plugin: registry.Name("kubectl-grpc_probes"),
		mine:   registry.Name("mine"),
	}
	cosign := must(fixture.Tool(t.Context(), "cosign"))(t)
	f.commit = commitOf(t, f.clone)
	f.env = append(githubEnv(f.version, f.commit), "COSIGN="+cosign, "COSIGN_PASSWORD=", "HOME="+t.TempDir(),
		"GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	for _, owner := range []string{"ours", "theirs"} {
		keys := filepath.Join(f.clone, "dist/keys", owner)
		if err := os.MkdirAll(keys, 0o755); err != nil {
			t.Fatal(err)
		}
		f.run(t, keys, cosign, "generate-key-pair")
	}
	f.publish(t, "health-probe", f.buildpack, "ours")
	f.publish(t, "grpc-health-probe", f.probe, "ours")
	f.publish(t, "kubectl-grpc_probes", f.plugin, "ours")
	f.write(t, "grpc_health_probe-linux-amd64", "ours")
	f.list(t)
	f.sign(t, "ours")
	return f
}

// publish publishes an image with some title and records it as one of the release.
func (f *forgery) publish(t *testing.T, record, to, title string) {
	t.Helper()
	f.publisher.record = filepath.Join(f.clone, "dist/publish", record+".digest")
	if err := os.MkdirAll(filepath.Dir(f.publisher.record), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := f.publisher.publish(t.Context(), nil, to, f.version, title, "-force"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sbom := `{"bomFormat":"CycloneDX","specVersion":"1.6","metadata":{"component":{"name":"` + record + `"}}}`
	if err := os.WriteFile(f.path("dist/publish/"+record+".cdx.json"), []byte(sbom), 0o600); err != nil {
		t.Fatal(err)
	}
}

// write writes a file of the release.
func (f *forgery) write(t *testing.T, name, content string) {
	t.Helper()
	folder := filepath.Join(f.clone, "dist/release")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// list makes the checksums and notes of what is there.
func (f *forgery) list(t *testing.T) {
	t.Helper()
	for _, verb := range []string{"checksums", "notes"} {
		f.run(t, f.clone, "go", "run", "./scripts/release", verb, "dist/release")
	}
}

func (f *forgery) sign(t *testing.T, owner string) {
	t.Helper()
	must(fixture.Script(t.Context(), f.clone, f.env, "sign.sh", "--key", "dist/keys/"+owner+"/cosign.key"))(t)
}

func (f *forgery) verify(t *testing.T) error {
	t.Helper()
	_, err := fixture.Script(t.Context(), f.clone, f.env, "verify.sh", "--key", "dist/keys/ours/cosign.pub",
		f.buildpack, f.probe, f.plugin)
	return err
}

func (f *forgery) run(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), f.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
}

// TestForgedRelease changes a release after it was signed, each time so that all but the signature fits. cosign itself
// signs the forgery, with another key.
func TestForgedRelease(t *testing.T) {
	t.Parallel()
	f := newForgery(t)
	if err := f.verify(t); err != nil {
		t.Fatalf("what is signed is refused: %v", err)
	}
	bundle := filepath.Join(f.clone, "dist/release/checksums.txt.sigstore.json")
	signed := string(must(os.ReadFile(bundle))(t))
	refused := func(what, why string) {
		t.Helper()
		if err := f.verify(t); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: it ends with %v, want %q", what, err, why)
		}
	}

	f.write(t, "grpc_health_probe-linux-amd64", "theirs")
	refused("another program", "has the digest")
	f.list(t)
	refused("another program, with checksums", "signature")
	f.sign(t, "theirs")
	refused("another program, with a signature by another key", "signature")

	f.write(t, "grpc_health_probe-linux-amd64", "ours")
	f.publish(t, "health-probe", f.mine, "ours")
	f.list(t)
	refused("an image of another name", "names the image "+f.mine)
	f.publish(t, "health-probe", f.buildpack, "theirs")
	f.list(t)
	f.write(t, "checksums.txt.sigstore.json", signed)
	refused("another image", "signature")
	f.sign(t, "theirs")
	f.write(t, "checksums.txt.sigstore.json", signed)
	refused("another image, with a signature by another key", "signature")

	f.publish(t, "health-probe", f.buildpack, "ours")
	f.list(t)
	if err := f.verify(t); err != nil {
		t.Errorf("what is signed is refused: %v", err)
	}
}
