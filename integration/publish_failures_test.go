package integration

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// publisher is the program behind scripts/publish.sh, with images for two platforms to publish. Their programs and
// SBOMs are only a few bytes, since they are published many times.
type publisher struct {
	program, programs, record string
}

func newPublisher(t *testing.T) publisher {
	t.Helper()
	clone := checkout(t)
	must(fixture.Script(t.Context(), clone, nil, "tool.sh", "publish"))(t)
	programs := t.TempDir()
	for _, platform := range []string{"linux/amd64", "linux/arm64"} {
		folder := filepath.Join(programs, platform)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{
			"grpc_health_probe", "grpc_health_bridge", "grpc-health-probe.cdx.json", "grpc-health-probe.spdx.json",
		} {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(platform), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return publisher{filepath.Join(clone, "dist/tools/publish"), programs, filepath.Join(t.TempDir(), "record")}
}

// publish publishes a version. The title is what makes the content of one version differ.
func (p publisher) publish(
	ctx context.Context, env []string, to, version, title string, flags ...string,
) (output string, err error) {
	all := append(slices.Clone(flags), "-record", p.record, "-label", "org.opencontainers.image.version="+version,
		"-label", "org.opencontainers.image.title="+title, "probe", to, p.programs)
	cmd := exec.CommandContext(ctx, p.program, all...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// tags are the tags of a repository and their digests, apart from those that stand for the Referrers API.
func tags(t *testing.T, registry *harness.Registry, to string) map[string]string {
	t.Helper()
	repository := must(name.NewRepository(to))(t)
	listed, err := remote.List(repository, registry.Auth())
	if answer, ok := errors.AsType[*transport.Error](err); ok && answer.StatusCode == http.StatusNotFound {
		return nil
	}
	found := map[string]string{}
	for _, tag := range must(listed, err)(t) {
		if !strings.HasPrefix(tag, "sha256-") {
			found[tag] = must(remote.Head(repository.Tag(tag), registry.Auth()))(t).Digest.String()
		}
	}
	return found
}

// TestPublishRefusesToReplace publishes other content under a version that is there.
func TestPublishRefusesToReplace(t *testing.T) {
	t.Parallel()
	needDocker(t)
	registry, publisher := must(distribution())(t), newPublisher(t)
	to := registry.Name("replaced/probe")
	if out, err := publisher.publish(t.Context(), nil, to, "1.2.3", "first"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	first := tags(t, registry, to)

	out, err := publisher.publish(t.Context(), nil, to, "1.2.3", "second")
	if err == nil || !strings.Contains(out, "it is published with another digest, "+first["1.2.3"]) ||
		!strings.Contains(out, "--force") {
		t.Errorf("it ends with %v: %s", err, out)
	}
	wantTags(t, registry, to, first)

	out, err = publisher.publish(t.Context(), nil, to, "1.2.3", "first")
	if err != nil || !strings.Contains(out, "is published already, with this digest") {
		t.Errorf("the same again ends with %v: %s", err, out)
	}
	wantTags(t, registry, to, first)

	out, err = publisher.publish(t.Context(), nil, to, "1.2.3", "second", "-force")
	if err != nil || !strings.Contains(out, "replacing "+to+":1.2.3, which was "+first["1.2.3"]) {
		t.Errorf("with -force it ends with %v: %s", err, out)
	}
	for tag, digest := range tags(t, registry, to) {
		if digest == first["1.2.3"] {
			t.Errorf("the tag %s still is what was replaced", tag)
		}
	}
}

// TestPublishKeepsTagsFromMovingBack publishes an older release and a pre-release after a newer one.
func TestPublishKeepsTagsFromMovingBack(t *testing.T) {
	t.Parallel()
	needDocker(t)
	registry, publisher := must(distribution())(t), newPublisher(t)
	to := registry.Name("order/probe")
	for _, version := range []string{"1.10.0", "1.9.5", "2.0.0-rc.1"} {
		if out, err := publisher.publish(t.Context(), nil, to, version, "order"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	got := tags(t, registry, to)
	newest := got["1.10.0"]
	wantTags(t, registry, to, map[string]string{
		"1.10.0": newest, "1.10": newest, "1": newest, "latest": newest,
		"1.9.5": got["1.9.5"], "1.9": got["1.9.5"], "2.0.0-rc.1": got["2.0.0-rc.1"],
	})
}

func wantTags(t *testing.T, registry *harness.Registry, to string, want map[string]string) {
	t.Helper()
	got := tags(t, registry, to)
	if fmt.Sprint(got) != fmt.Sprint(want) { // maps are printed in order
		t.Errorf("the tags are\n%v, want\n%v", got, want)
	}
}

// TestPublishToAFailingRegistry publishes to a registry that fails after each number of requests, with an answer or by
// closing connections. What has a tag then is complete, and the next run completes the rest.
func TestPublishToAFailingRegistry(t *testing.T) {
	t.Parallel()
	needDocker(t)
	registry, publisher := must(distribution())(t), newPublisher(t)
	never := failAfter(t, registry, -1, nil)
	if out, err := publisher.publish(t.Context(), nil, never.name("whole/probe"), "1.2.3", "failing"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := tags(t, registry, registry.Name("whole/probe"))
	if len(whole) != 4 || never.requests.Load() < 20 {
		t.Fatalf("a run without failures makes %d requests and the tags %v", never.requests.Load(), whole)
	}
	for n := range never.requests.Load() {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			fail := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if n%2 == 0 {
					panic(http.ErrAbortHandler) // closes the connection
				}
				w.WriteHeader(http.StatusInternalServerError)
			})
			short := fmt.Sprintf("failing-%d/probe", n)
			proxy := failAfter(t, registry, n, fail)
			out, err := publisher.publish(t.Context(), nil, proxy.name(short), "1.2.3", "failing")
			if proxy.failed.Load() && err == nil {
				t.Errorf("the registry failed, and this says nothing of it: %s", out)
			}
			to := registry.Name(short)
			left := tags(t, registry, to)
			for tag := range left {
				index := must(remote.Index(must(name.NewTag(to+":"+tag))(t), registry.Auth()))(t)
				if err := validate.Index(index); err != nil {
					t.Errorf("the tag %s: %v", tag, err)
				}
			}
			if len(left) > 0 && left["1.2.3"] == "" {
				t.Errorf("there is no tag 1.2.3, but there are %v", left)
			}
			if out, err := publisher.publish(t.Context(), nil, to, "1.2.3", "failing"); err != nil {
				t.Errorf("the next run ends with %v: %s", err, out)
			}
			wantTags(t, registry, to, whole)
		})
	}
}

// failing is a registry behind a proxy that fails from some request on.
type failing struct {
	*httptest.Server

	requests atomic.Int64
	failed   atomic.Bool
}

func failAfter(t *testing.T, registry *harness.Registry, n int64, fail http.Handler) *failing {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: registry.Address()})
	proxied := &failing{}
	proxied.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if made := proxied.requests.Add(1); n >= 0 && made > n {
			proxied.failed.Store(true)
			fail.ServeHTTP(w, r)
			return
		}
		// The host stays the proxy's, so that the registry leads nobody past it.
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(proxied.Close)
	return proxied
}

// name is the name of an image behind the proxy.
func (f *failing) name(short string) string {
	return strings.TrimPrefix(f.URL, "http://") + "/" + short
}

// TestPublishWithDockersLogin publishes to a registry that lets only one user in. The login is that of Docker's
// configuration, and the output does not have it.
func TestPublishWithDockersLogin(t *testing.T) {
	t.Parallel()
	needDocker(t)
	login := harness.Login{User: "publisher", Password: "correct-horse-battery"}
	registry := must(fixture.Distribution(t.Context(), login))(t)
	t.Cleanup(func() {
		if err := registry.Close(); err != nil {
			t.Errorf("closing the registry: %v", err)
		}
	})
	publisher, to := newPublisher(t), registry.Name("private/probe")
	config := func(password string) (folder, auth string) {
		auth = base64.StdEncoding.EncodeToString([]byte(login.User + ":" + password))
		content := must(json.Marshal(map[string]any{
			"auths": map[string]any{registry.Address(): map[string]string{"auth": auth}},
		}))(t)
		folder = t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "config.json"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		return folder, auth
	}
	right, auth := config(login.Password)
	wrong, _ := config("wrong-" + login.Password)
	for _, folder := range []string{t.TempDir(), wrong} {
		out, err := publisher.publish(t.Context(), []string{"DOCKER_CONFIG=" + folder}, to, "1.2.3", "private")
		if err == nil || !strings.Contains(out, "401 Unauthorized") || strings.Contains(out, login.Password) ||
			!strings.Contains(out, "docker login "+registry.Address()) {
			t.Errorf("without the login it ends with %v: %s", err, out)
		}
	}
	out, err := publisher.publish(t.Context(), []string{"DOCKER_CONFIG=" + right}, to, "1.2.3", "private")
	if err != nil || strings.Contains(out, login.Password) || strings.Contains(out, auth) {
		t.Errorf("it ends with %v: %s", err, out)
	}
	if got := tags(t, registry, to); len(got) != 4 {
		t.Errorf("the tags are %v", got)
	}
}
