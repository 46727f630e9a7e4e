package main

import (
	"context"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kubectl-grpc_probes": main, "trusted": trusted})
}

// TestScripts runs the program as users do. $REGISTRY is a registry on loopback that lets the user "reader" with the
// password "secret" read private/, that does not answer for hanging/, and that for stalling/ has a manifest and no end
// of what the manifest names.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		UpdateScripts: os.Getenv("UPDATE_GOLDEN") != "",
		Dir:           "testdata/script",
		Setup: func(env *testscript.Env) error {
			images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
			done := make(chan struct{})
			hang := func(ctx context.Context) {
				select {
				case <-ctx.Done():
				case <-done:
				}
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				user, password, _ := r.BasicAuth()
				isReader := user == "reader" && password == "secret"
				switch {
				case strings.HasPrefix(r.URL.Path, "/v2/hanging/"):
					hang(r.Context())
				case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v2/stalling/app/blobs/"):
					_ = http.NewResponseController(w).Flush() // the headers come
					hang(r.Context())
				case r.URL.Path == "/v2/" && !isReader,
					r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v2/private/") && !isReader:
					w.Header().Set("WWW-Authenticate", `Basic realm="images"`)
					w.WriteHeader(http.StatusUnauthorized)
				default:
					images.ServeHTTP(w, r)
				}
			}))
			env.Defer(func() { close(done); server.Close() })
			env.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"image": makeImage, "substitute": substitute},
	})
}

// trusted says whether the program trusts any authority.
func trusted() {
	if pool, err := x509.SystemCertPool(); err != nil || pool.Equal(x509.NewCertPool()) {
		os.Exit(1)
	}
}

// TestDocumentCommands parses the command lines in the documents that start the plugin.
func TestDocumentCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/many-teams.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile("(?m)kubectl[ -]grpc[-_]probes (print|patch|check|discover)( [^`|\n]*)").
		FindAllStringSubmatch(string(text), -1)
	if len(lines) < 5 {
		t.Errorf("only %d command lines were found", len(lines))
	}
	for _, line := range lines {
		p := &program{out: io.Discard}
		if _, err := p.parse(line[1], strings.Fields(line[2])); err != nil {
			t.Errorf("%s: %v", line[0], err)
		}
	}
}

// TestHelmPlugin parses the command line of the example for Helm 4.
func TestHelmPlugin(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/helm-plugin/plugin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var plugin struct {
		RuntimeConfig struct {
			PlatformCommand []struct{ Args []string } `yaml:"platformCommand"`
		} `yaml:"runtimeConfig"`
	}
	if err := yaml.Unmarshal(text, &plugin); err != nil {
		t.Fatal(err)
	}
	p := &program{out: io.Discard}
	args := plugin.RuntimeConfig.PlatformCommand[0].Args
	if _, err := p.parse(args[0], args[1:]); err != nil || !slices.Equal(p.paths, []string{stdin}) {
		t.Errorf("%q patches %q (%v), want standard input", args, p.paths, err)
	}
}

// makeImage makes an image, or an index of images for platforms: image KIND PLACE LABEL [PLATFORM...]. The kind is
// registry, layout or tarball; the label is a file, or - for none.
func makeImage(ts *testscript.TestScript, _ bool, args []string) {
	kind, place, text := args[0], args[1], args[2]
	labels := map[string]string{}
	if text != "-" {
		labels[label.Key] = strings.TrimSpace(ts.ReadFile(text))
	}
	image := func(platform string) v1.Image {
		p, err := v1.ParsePlatform(platform)
		ts.Check(err)
		img, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
			OS: p.OS, Architecture: p.Architecture, Config: v1.Config{Labels: labels},
		})
		ts.Check(err)
		return img
	}
	if kind == "tarball" {
		tag, err := name.NewTag("app:1")
		ts.Check(err)
		ts.Check(tarball.WriteToFile(ts.MkAbs(place), tag, image("linux/amd64")))
		return
	}
	if kind == "registry" && len(args) == 3 {
		reference, err := name.ParseReference(place)
		ts.Check(err)
		ts.Check(remote.Write(reference, image("linux/amd64")))
		return
	}
	var index v1.ImageIndex = empty.Index
	for _, platform := range args[3:] {
		p, err := v1.ParsePlatform(platform)
		ts.Check(err)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image(platform), Descriptor: v1.Descriptor{Platform: p},
		})
	}
	if kind == "layout" {
		_, err := layout.Write(ts.MkAbs(place), index)
		ts.Check(err)
		return
	}
	reference, err := name.ParseReference(place)
	ts.Check(err)
	ts.Check(remote.WriteIndex(reference, index))
}

// substitute replaces the variable REGISTRY in files.
func substitute(ts *testscript.TestScript, _ bool, files []string) {
	for _, file := range files {
		text := strings.ReplaceAll(ts.ReadFile(file), "$REGISTRY", ts.Getenv("REGISTRY"))
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}
