package integration

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestPublishTellsMistakesFirst gives the script wrong arguments on a machine without Go, so whatever it would compile
// would fail. It says what is wrong, and what was published before stays recorded.
func TestPublishTellsMistakesFirst(t *testing.T) {
	t.Parallel()
	clone := checkout(t)
	path := t.TempDir()
	for _, program := range []string{"bash", "dirname", "sed", "git", "grep", "mkdir", "mktemp", "rm"} {
		if err := os.Symlink(must(exec.LookPath(program))(t), filepath.Join(path, program)); err != nil {
			t.Fatal(err)
		}
	}
	record := filepath.Join(clone, "dist/publish/health-probe.digest")
	if err := os.MkdirAll(filepath.Dir(record), 0o755); err != nil {
		t.Fatal(err)
	}
	before := "registry.example.com/health-probe:1.0.0@sha256:" + strings.Repeat("a", 64) + "\n"
	if err := os.WriteFile(record, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ arguments, want string }{
		{"", "it names no repository"},
		{"--probe", "it names no repository"},
		{"-health-probe", "'-health-probe' is not an option"},
		{"--gone registry.example.com/x", "'--gone' is not an option"},
		{"registry.example.com/x registry.example.com/y", "are two names"},
		{"health-probe", "is not REGISTRY/NAME"},
		{"team/health-probe", "is not REGISTRY/NAME"},
		{"registry.example.com/Health-Probe", "is not REGISTRY/NAME"},
		{"registry.example.com/x:1.0.0", "is not REGISTRY/NAME"},
		{"--probe registry.example.com/", "is not REGISTRY/NAME"},
		{"https://registry.example.com/x", "is not REGISTRY/NAME"},
		// These names are right, so Go is missed.
		{"registry.example.com/team/health-probe", "scripts/publish.sh: needs Go"},
		{"localhost/x", "scripts/publish.sh: needs Go"},
		{"127.0.0.1:5000/x__y", "scripts/publish.sh: needs Go"},
	} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(clone, "scripts/publish.sh"),
			strings.Fields(c.arguments)...)
		cmd.Env = []string{"PATH=" + path}
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("publish.sh %s ends with %v: %s, want %q", c.arguments, err, out, c.want)
		}
		if got := string(must(os.ReadFile(record))(t)); got != before {
			t.Errorf("after publish.sh %s the record is %q", c.arguments, got)
		}
	}
}

// TestPublishedRefusesWhatIsNoImage writes records that no publish.sh would write. What is printed are words of other
// scripts' command lines, so none may be an option.
func TestPublishedRefusesWhatIsNoImage(t *testing.T) {
	t.Parallel()
	clone, digest := checkout(t), "@sha256:"+strings.Repeat("a", 64)
	good := "registry.example.com/health-probe:1.0.0" + digest
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(clone, "dist/publish", name+".digest")
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err := errors.Join(err, os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("health-probe", good+"\n")
	write("kubectl-grpc_probes", good+"\n")
	for _, second := range []string{
		"", "-a:1.0.0" + digest, "--key=a:1.0.0" + digest, "a b:1.0.0" + digest, "a:1.0.0", "a" + digest,
		good + "\n-a", "-a\n" + good,
	} {
		write("grpc-health-probe", second)
		out, err := fixture.Script(t.Context(), clone, nil, "published.sh")
		if err == nil {
			t.Errorf("%q passes: %s", second, out)
		}
	}
	write("grpc-health-probe", good)
	out, err := fixture.Script(t.Context(), clone, nil, "published.sh")
	if err != nil || out != good+"\n"+good+"\n"+good {
		t.Errorf("it prints %q, %v", out, err)
	}
}

// TestEntriesOfAnIndexAreNotChanged adds versions to a clone of the buildpack registry's index.
func TestEntriesOfAnIndexAreNotChanged(t *testing.T) {
	t.Parallel()
	clone, index := checkout(t), t.TempDir()
	const image = "registry.example.com:5000/x/health-probe"
	add := func(version, digit string) (string, error) {
		record := filepath.Join(clone, "dist/publish/health-probe.digest")
		text := image + ":" + version + "@sha256:" + strings.Repeat(digit, 64) + "\n"
		err := os.MkdirAll(filepath.Dir(record), 0o755)
		if err := errors.Join(err, os.WriteFile(record, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return fixture.Script(t.Context(), clone, nil, "registry-entry.sh", index)
	}
	for _, version := range []string{"0.1.0", "0.2.0", "0.1.0"} {
		must(add(version, "a"))(t)
	}
	if out, err := add("0.1.0", "b"); err == nil || !strings.Contains(err.Error(), "with another image") {
		t.Errorf("a version with another image passes: %s", out)
	}
	must(add("0.1", "b"))(t) // which a dot of 0.1.0 does not match
	const line = `{"ns":"grpc-cnb","name":"health-probe","version":"VERSION","yanked":false,"addr":"` + image +
		"@sha256:DIGEST\"}\n"
	var want string
	for _, entry := range []string{"0.1.0 a", "0.2.0 a", "0.1 b"} {
		version, digit, _ := strings.Cut(entry, " ")
		want += strings.NewReplacer("VERSION", version, "DIGEST", strings.Repeat(digit, 64)).Replace(line)
	}
	got := string(must(os.ReadFile(filepath.Join(index, "he/al/grpc-cnb_health-probe")))(t))
	if got != want {
		t.Errorf("the index has\n%swant\n%s", got, want)
	}
}

// TestPublishTwiceAtOnce publishes to two repositories from one clone at the same time, with the same result, and then
// to a registry that answers no more. The record is whole at any time, and still that of the last success.
func TestPublishTwiceAtOnce(t *testing.T) {
	t.Parallel()
	registry, clone := must(harness.NewRegistry())(t), checkout(t)
	var group sync.WaitGroup
	repositories := []string{registry.Name("one/probe"), registry.Name("two/probe")}
	for _, to := range repositories {
		group.Go(func() {
			if _, err := fixture.Script(t.Context(), clone, nil, "publish.sh", "--probe", to); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	one, two := tags(t, registry, repositories[0]), tags(t, registry, repositories[1])
	if version := must(documents.Version(".."))(t); one[version] == "" || one[version] != two[version] {
		t.Errorf("the tags are %v and %v", one, two)
	}
	record := filepath.Join(clone, "dist/publish/grpc-health-probe.digest")
	before := string(must(os.ReadFile(record))(t))
	if !slices.ContainsFunc(repositories, func(to string) bool { return strings.HasPrefix(before, to+":") }) {
		t.Errorf("the record is %q", before)
	}

	if err := registry.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := fixture.Script(t.Context(), clone, nil, "publish.sh", "--probe", repositories[0]); err == nil {
		t.Errorf("nothing answers, and it passes: %s", out)
	}
	if got := string(must(os.ReadFile(record))(t)); got != before {
		t.Errorf("the record is %q, and was %q", got, before)
	}
	if left := must(os.ReadDir(filepath.Dir(record)))(t); len(left) != 2 { // the other one is the SBOM
		t.Errorf("beside the record there are %v", left)
	}
}

// TestInterruptedScripts presses Ctrl-C while a script compiles: the terminal sends the signal to all its processes.
// The script ends with what a shell says then, 130, and not as if something were wrong with what it compiles.
func TestInterruptedScripts(t *testing.T) {
	t.Parallel()
	clone := checkout(t)
	for _, line := range [][]string{
		{"publish.sh", "registry.example.com/x"},
		{"publish.sh", "--probe", "registry.example.com/x"},
		{"package.sh"},
		{"release.sh"},
		{"build.sh"},
		{"vulncheck.sh"},
		{"tool.sh", "publish"},
	} {
		t.Run(strings.Join(line, " "), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cmd := exec.CommandContext(ctx, filepath.Join(clone, "scripts", line[0]), line[1:]...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			cmd.Env = append(os.Environ(), "PACK="+must(exec.LookPath("true"))(t))
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			cmd.Stdout, cmd.Stderr = writer, writer
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			writer.Close()
			output := bufio.NewScanner(reader)
			for output.Scan() && !strings.HasPrefix(output.Text(), "compiling ") {
				continue
			}
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			var log strings.Builder
			for output.Scan() {
				log.WriteString(output.Text() + "\n")
			}
			err = cmd.Wait()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 130 {
				t.Errorf("it ends with %v: %s", err, log.String())
			}
		})
	}
}

// TestFuzzScript runs fuzz tests of which one fails. The script says so, and the input is where Go looks for it.
func TestFuzzScript(t *testing.T) {
	t.Parallel()
	clone := checkout(t)
	for name, condition := range map[string]string{"sound": "false", "broken": "len(text) > 2"} {
		test := "package fuzzed\n\nimport \"testing\"\n\nfunc FuzzText(f *testing.F) {\n\tf.Add(\"a\")\n" +
			"\tf.Fuzz(func(t *testing.T, text string) {\n\t\tif " + condition + " {\n\t\t\tt.Error(text)\n\t\t}\n" +
			"\t})\n}\n"
		folder := filepath.Join(clone, "internal", name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "fuzzed_test.go"), []byte(test), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range [][]string{{"-runs", "20000"}, {"-time", "5s"}} {
		sound := slices.Concat(limit, []string{"internal/sound"})
		if _, err := fixture.Script(t.Context(), clone, nil, "fuzz.sh", sound...); err != nil {
			t.Error(err)
		}
		_, err := fixture.Script(t.Context(), clone, nil, "fuzz.sh", append(sound, "internal/broken")...)
		if err == nil || !strings.Contains(err.Error(), "Failing input written to testdata/fuzz/FuzzText/") {
			t.Errorf("with %q it ends with %v", limit, err)
		}
		findings := filepath.Join(clone, "internal/broken/testdata")
		if found := must(os.ReadDir(filepath.Join(findings, "fuzz/FuzzText")))(t); len(found) != 1 {
			t.Errorf("with %q there are the inputs %v", limit, found)
		}
		if err := os.RemoveAll(findings); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRebuildsInTime has a patch release that was proposed, and not made since. The script, which a workflow runs each
// day, fails as soon as it took longer than SECURITY.md promises.
func TestRebuildsInTime(t *testing.T) {
	t.Parallel()
	clone, origin := checkout(t), t.TempDir()
	git := func(date time.Time, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{
			"-C", clone, "-c", "user.name=test", "-c",
			"user.email=test@example.com",
		}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+date.Format(time.RFC3339))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	now := time.Now()
	git(now, "init", "--quiet", "--bare", origin)
	git(now, "remote", "set-url", "origin", origin)
	git(now, "tag", "v99.0.0")
	const day = 24 * time.Hour
	for _, c := range []struct {
		age  time.Duration
		want string
	}{{2 * day, ""}, {3*day + time.Hour, "v99.0.1 was proposed 3 days ago, SECURITY.md promises 3"}} {
		git(now.Add(-c.age), "commit", "--quiet", "--allow-empty", "--message", "rebuilt")
		git(now, "push", "--quiet", "--force", "origin", "HEAD:refs/heads/rebuild-v99.0.1")
		out, err := fixture.Script(t.Context(), clone, nil, "propose-rebuild.sh")
		if c.want == "" && (err != nil || !strings.Contains(out, "v99.0.1 is proposed")) {
			t.Errorf("after %s it ends with %v: %s", c.age, err, out)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("after %s it ends with %v: %s, want %q", c.age, err, out, c.want)
		}
	}
	text := string(must(os.ReadFile("../SECURITY.md"))(t))
	if !strings.Contains(text, "three days after the proposal") {
		t.Error("SECURITY.md promises another time")
	}
}

// checkout is a clone of this repository with the tag of its version.
func checkout(t *testing.T) string {
	t.Helper()
	return must(fixture.Checkout(t.Context(), "v"+must(documents.Version(".."))(t)))(t)
}
