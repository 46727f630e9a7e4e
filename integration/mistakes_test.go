package integration

import (
	"errors"
	"maps"
	"os/exec"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// noGo is what a build says that cannot compile the probe.
const noGo = "finding go on the PATH, since $BP_GRPC_HEALTH_PROBE_SOURCE is compile: put a Go buildpack before this one"

// prefix begins the buildpack's variables, and download those of a build that downloads the probe.
const (
	prefix   = "BP_GRPC_HEALTH_PROBE_"
	download = prefix + "SOURCE=download " + prefix
)

// serverSource makes a gRPC server.
const serverSource = "package main\n\nimport \"google.golang.org/grpc\"\n\nvar _ = grpc.NewServer()\n"

// TestNothingVanishes builds with the buildpack as an optional member of the builder's order. A setting that is wrong
// (in an app without gRPC too), a tool that is missing and a server that is required fail the build, and a line of its
// log names the cause. Scripts in cmd/buildpack have the same settings, without the lifecycle.
func TestNothingVanishes(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(dockerOptional())(t)
	for name, c := range map[string]struct {
		env   string            // variables, with spaces between them
		files map[string]string // of the app, beside its Procfile
		want  string            // in the log, after "error: "
	}{
		"enabled":     {env: prefix + "ENABLED=maybe", want: `reading $BP_GRPC_HEALTH_PROBE_ENABLED: "maybe" is not`},
		"no server":   {env: prefix + "ENABLED=required", want: "finding a gRPC server, since $BP_GRPC_HEALTH_PROBE_"},
		"args":        {env: prefix + "ARGS=-tsl", want: "checking $BP_GRPC_HEALTH_PROBE_ARGS: "},
		"port":        {env: prefix + "DETECT_PORT=no", want: `reading $BP_GRPC_HEALTH_PROBE_DETECT_PORT: "no" is not`},
		"source":      {env: prefix + "SOURCE=apt", want: `reading $BP_GRPC_HEALTH_PROBE_SOURCE: "apt" is not`},
		"no go":       {env: prefix + "SOURCE=compile", files: map[string]string{"main.go": serverSource}, want: noGo},
		"variant":     {env: prefix + "VARIANT=fat", want: `reading $BP_GRPC_HEALTH_PROBE_VARIANT: "fat" is not`},
		"bridge":      {env: prefix + "BRIDGE=on", want: `reading $BP_GRPC_HEALTH_PROBE_BRIDGE: "on" is not`},
		"processes":   {env: prefix + "BRIDGE_PROCESSES=a,b", want: "reading $BP_GRPC_HEALTH_PROBE_BRIDGE_PROCESSES: "},
		"repository":  {env: download + "REPO=probe", want: `reading the repository "probe": it must be`},
		"asset":       {env: download + "ASSET=a/b", want: `reading the asset "a/b" of grpc-ecosystem/`},
		"version":     {env: download + "VERSION=../v1", want: `reading the tag "../v1" of grpc-ecosystem/`},
		"digest":      {env: download + "SHA256=abc", want: `reading $BP_GRPC_HEALTH_PROBE_SHA256: "abc" is not`},
		"misspelt":    {env: prefix + "SHA265=0", want: "reading $BP_GRPC_HEALTH_PROBE_SHA265: it is not known"},
		"api":         {env: "BP_GITHUB_API_URL=http://a.example", want: `reading $BP_GITHUB_API_URL: "http" is not`},
		"assets":      {env: "BP_GITHUB_ASSET_REPO=a/b", want: "reading $BP_GITHUB_ASSET_REPO: it asks for"},
		"older names": {env: "REPO=a FILE=b", want: `reading the repository "a": it must be`},
		"their file":  {env: "GITHUB_ASSETS_PATH=none.toml", want: "reading $GITHUB_ASSETS_PATH: finding "},
		"their table": {
			files: map[string]string{"project.toml": "[metadata.githubassets]\nrepo = 'a/b'\n"},
			want:  "reading the GitHub assets in project.toml: metadata.githubassets is not an array of tables",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"Procfile": "web: ./server\n"}
			maps.Copy(files, c.files)
			build := harness.Build{
				Name: "vanishes-" + strings.ReplaceAll(name, " ", "-"), App: must(fixture.Stage(files))(t),
				Env: strings.Fields(c.env),
			}
			_, err := platform.Build(t.Context(), build)
			wantBuildError(t, err, "error: "+c.want, "ERROR: failed to build: ")
			if ended, ok := errors.AsType[*exec.ExitError](err); !ok || ended.ExitCode() != 1 {
				t.Errorf("pack ended with %v, want exit code 1", err)
			}
		})
	}
}
