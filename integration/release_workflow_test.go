package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

// notRunHere are the scripts of the release workflow that this test leaves out, each with the reason.
var notRunHere = map[string]string{
	"scripts/vulncheck.sh":      "it needs Go's vulnerability database",
	"scripts/github-release.sh": "it calls nothing but gh, for which GitHub has to be there",
}

// insteadOf are what this test runs for scripts that take long.
var insteadOf = map[string]string{
	// scripts/test.sh has run it, twice. What is published now is missing in those notes.
	"scripts/release.sh": "go run ./scripts/release notes dist/release",
}

// moreOptions are what the release workflow's scripts are given here, if nothing but loopback can be reached.
var moreOptions = map[string]string{
	"scripts/sign.sh":           ` --key "$KEYS/cosign.key"`,
	"scripts/verify.sh":         ` --key "$KEYS/cosign.pub" "$BUILDPACK" "$PROBE" "$PLUGIN"`,
	"scripts/smoke.sh":          ` --builder "$BUILDER" --pull-policy never`,
	"scripts/registry-entry.sh": " --print",
}

// TestReleaseWorkflow runs the steps of the release workflow in a clone, as the workflow has them, with a registry on
// loopback that demands a login.
func TestReleaseWorkflow(t *testing.T) {
	t.Parallel()
	needDocker(t)
	r := newRelease(t)
	var ran []string
	for _, job := range []string{"publish", "sign", "smoke", "release", "register"} {
		for _, line := range r.steps(t, job) {
			script, _, _ := strings.Cut(line, " ")
			switch {
			case notRunHere[script] != "":
			case insteadOf[script] != "":
				r.run(t, insteadOf[script])
			default:
				ran = append(ran, script)
				r.run(t, strings.ReplaceAll(line, "ghcr.io", r.registry.Address())+moreOptions[script])
			}
		}
	}
	if len(ran) < 9 {
		t.Errorf("only %q ran", ran)
	}

	for image := range strings.FieldsSeq(r.run(t, "scripts/published.sh")) {
		t.Cleanup(func() { _, _, _ = r.try(t, ".", "docker image rm --force "+withoutTag(image)) }) // what was pulled
	}

	subjects := r.read(t, "dist/publish/subjects.txt")
	for _, want := range []string{"  grpc_health_probe-linux-amd64\n", "  " + r.registry.Name("health-probe") + "\n"} {
		if !strings.Contains(subjects, want) {
			t.Errorf("provenance is not attested for %q:\n%s", want, subjects)
		}
	}
	image := strings.TrimSpace(r.read(t, "dist/publish/health-probe.digest"))
	want := fmt.Sprintf("ADD %s@%s\nid = %q\nversion = %q\naddr = %q\n", buildpackID, r.version, buildpackID, r.version,
		withoutTag(image))
	if got := r.run(t, "scripts/registry-entry.sh --request --print"); got != want {
		t.Errorf("the registry is asked for\n%s, want\n%s", got, want)
	}

	t.Run("nothing passes that was not signed", func(t *testing.T) { r.wantRefusals(t) })
}

// withoutTag is NAME@DIGEST for NAME:TAG@DIGEST.
func withoutTag(image string) string {
	name, digest, _ := strings.Cut(image, "@")
	return name[:strings.LastIndex(name, ":")] + "@" + digest
}

// wantRefusals makes sure that the steps fail if there is something wrong.
func (r *release) wantRefusals(t *testing.T) {
	verify := "scripts/verify.sh" + moreOptions["scripts/verify.sh"]
	r.refuse(t, `scripts/check-tag.sh v9.9.9`, "buildpack.toml has version")
	r.refuse(t, strings.Replace(verify, "$KEYS", "$OTHER", 1), "failed to verify signature")
	r.refuse(t, `scripts/verify.sh --key "$KEYS/cosign.pub"`, "and this is about ghcr.io/grpc-cnb/")
	r.refuse(t, `REGISTRY_PASSWORD=wrong scripts/login.sh `+r.registry.Address(), "")

	// Someone changes a file after it was signed.
	path := filepath.Join(r.clone, "dist/release/checksums.txt")
	content := must(os.ReadFile(path))(t)
	r.write(t, path, strings.Replace(string(content), "grpc_health_probe", "grpc_health_prob3", 1))
	r.refuse(t, verify, "")
	r.write(t, path, string(content))

	// Another image than the signed one is what users would get.
	digest := filepath.Join(r.clone, "dist/publish/health-probe.digest")
	signed := must(os.ReadFile(digest))(t)
	other := must(r.registry.Push("health-probe:unsigned", must(probed())(t).Image))(t)
	sum := must(must(probed())(t).Digest())(t)
	r.write(t, digest, other+"@"+sum.String()+"\n")
	r.refuse(t, verify, "")
	r.write(t, digest, string(signed))
	r.run(t, verify)
}

// release is a clone of this repository from which a version is released.
type release struct {
	clone    string
	version  string
	registry *harness.Registry
	env      []string
}

// newRelease makes the clone with a tag, and two keys: one to sign with, and one of somebody else.
func newRelease(t *testing.T) *release {
	t.Helper()
	platform := must(docker())(t)
	login := harness.Login{User: "releaser", Password: "correct horse"}
	r := &release{
		clone: filepath.Join(t.TempDir(), "clone"), version: must(documents.Version(".."))(t),
		registry: must(fixture.Distribution(t.Context(), login))(t),
	}
	t.Cleanup(func() { _ = r.registry.Close() })
	home, keys, others := t.TempDir(), t.TempDir(), t.TempDir()
	r.write(t, filepath.Join(home, "config.toml"), fmt.Sprintf("lifecycle-image = %q\n", platform.Name("lifecycle")))
	tag := "v" + r.version
	r.env = append(platform.Env(), "PACK_HOME="+home, "DOCKER_CONFIG="+home, "COSIGN_PASSWORD=", "HOME="+home,
		"GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "BUILDER="+platform.Name("builder"),
		"PACK="+must(fixture.Tool(t.Context(), "pack"))(t), "COSIGN="+must(fixture.Tool(t.Context(), "cosign"))(t),
		"KEYS="+keys, "OTHER="+others, "GITHUB_REF_NAME="+tag,
		"BUILDPACK="+r.registry.Name("health-probe"), "PROBE="+r.registry.Name("grpc-health-probe"),
		"PLUGIN="+r.registry.Name("kubectl-grpc_probes"),
		"REGISTRY_USER="+login.User, "REGISTRY_PASSWORD="+login.Password)

	r.runIn(t, "..", `git clone -q . "`+r.clone+`"`)
	for _, folder := range []string{keys, others} {
		r.runIn(t, folder, `"$COSIGN" generate-key-pair`)
	}
	changelog := filepath.Join(r.clone, "CHANGELOG.md")
	dated := strings.Replace(string(must(os.ReadFile(changelog))(t)), "## "+r.version+" (unreleased)",
		"## "+r.version+" (2026-01-02)", 1)
	r.write(t, changelog, dated)
	r.run(t, "git -c user.name=test -c user.email=test@example.com commit -qam release --allow-empty && git tag "+tag+
		" && git tag cmd/kubectl-grpc_probes/"+tag)
	r.env = append(r.env, githubEnv(r.version, commitOf(t, r.clone))...)
	released := fixture.Dist("release")
	if _, err := os.Stat(filepath.Join(released, "checksums.txt")); err != nil {
		t.Fatalf("run scripts/release.sh first: %v", err)
	}
	if err := os.CopyFS(filepath.Join(r.clone, "dist/release"), os.DirFS(released)); err != nil {
		t.Fatal(err)
	}
	return r
}

// steps returns the scripts that a job of the workflow calls.
func (r *release) steps(t *testing.T, job string) (lines []string) {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Run string `yaml:"run"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(r.read(t, ".github/workflows/release.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	for _, step := range workflow.Jobs[job].Steps {
		if step.Run != "" {
			lines = append(lines, step.Run)
		}
	}
	return lines
}

// run runs a line as a step of a workflow does, and returns its standard output.
func (r *release) run(t *testing.T, line string) string {
	t.Helper()
	return r.runIn(t, r.clone, line)
}

func (r *release) runIn(t *testing.T, folder, line string) string {
	t.Helper()
	out, log, err := r.try(t, folder, line)
	if err != nil {
		t.Fatalf("running %s: %v\n%s%s", line, err, out, log)
	}
	if strings.Contains(out+log, "correct horse") {
		t.Errorf("%s prints the password:\n%s%s", line, out, log)
	}
	return out
}

// refuse makes sure that a line fails, and says why.
func (r *release) refuse(t *testing.T, line, why string) {
	t.Helper()
	if out, log, err := r.try(t, r.clone, line); err == nil || !strings.Contains(log, why) {
		t.Errorf("%s is to fail with %q, and ended with %v\n%s%s", line, why, err, out, log)
	}
}

func (r *release) try(t *testing.T, folder, line string) (out, log string, err error) {
	t.Helper()
	var stdout, stderr strings.Builder
	// What is cleaned up runs after the end of the test's context.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "--noprofile", "--norc", "-eo", "pipefail",
		"-c", line)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = folder, slices.Clone(r.env), &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

func (r *release) read(t *testing.T, name string) string {
	t.Helper()
	return string(must(os.ReadFile(filepath.Join(r.clone, name)))(t))
}

func (*release) write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// goEnv is a setting of the go command, which would follow another HOME.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(string(must(exec.CommandContext(t.Context(), "go", "env", name).Output())(t)))
}
