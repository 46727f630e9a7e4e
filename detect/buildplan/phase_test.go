package buildplan_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/detect/buildplan"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/golden"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

const serverSource = "package main\n\nimport \"google.golang.org/grpc\"\n\nvar _ = grpc.NewServer()\n"

// The messages and the plan of each case, as users and the lifecycle see them, are in testdata/phase.
func TestPhase(t *testing.T) {
	healthy := strings.Replace(serverSource, "var _ =", "var Health = healthpb.RegisterHealthServer\n\nvar _ =", 1)
	healthy = strings.Replace(healthy, "import ",
		"import healthpb \"google.golang.org/grpc/health/grpc_health_v1\"\nimport ", 1)
	for name, c := range map[string]struct{ enabled, source string }{
		"found":            {"auto", healthy},
		"found_no_health":  {"auto", serverSource},
		"nothing":          {"auto", "package main\n"},
		"forced":           {"true", "package main\n"},
		"forced_and_found": {" TRUE ", healthy},
		"required":         {"required", healthy},
		"required_nothing": {"required", "package main\n"},
		"default":          {"", healthy},
		"empty":            {" ", healthy},
		"withdrawn":        {"false", healthy},
		"maybe":            {"maybe", healthy},
	} {
		t.Run(name, func(t *testing.T) {
			if c.enabled != "" {
				t.Setenv(config.EnabledEnv, c.enabled)
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "main.go"), c.source)
			golden.Check(t, filepath.Join("testdata/phase", name+".txt"), phase(t, dir))
		})
	}
}

func TestPhaseListsAllEvidenceAtDebugLevel(t *testing.T) {
	t.Setenv("BP_LOG_LEVEL", "DEBUG")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "b/main.go"), serverSource)
	write(t, filepath.Join(dir, "a/main.go"), serverSource)
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/phase/debug.txt", phase(t, dir))
}

// A mistake in any setting is handed on in the plan, also if the app serves no gRPC. "false" comes first.
func TestPhaseHandsMistakesOn(t *testing.T) {
	for name, variables := range map[string][2]string{
		"mistake_source":  {config.SourceEnv, "apt"},
		"mistake_args":    {config.ArgsEnv, "'"},
		"mistake_unknown": {"BP_GRPC_HEALTH_PROBE_SHA265", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(variables[0], variables[1])
			golden.Check(t, filepath.Join("testdata/phase", name+".txt"), phase(t, t.TempDir()))
			t.Setenv(config.EnabledEnv, "false")
			golden.Check(t, "testdata/phase/withdrawn.txt", phase(t, t.TempDir()))
		})
	}
}

// So is a mistake in what the app requires beside the probe, without secrets and control characters.
func TestPhaseHandsMistakesInRequirementsOn(t *testing.T) {
	wrong := func(libcnb.DetectContext) ([]plan.Requirement, error) {
		return nil, errors.New("reading \"ghp_s3cretOfTheTests\": a\nb\x1b[2J")
	}
	golden.Check(t, "testdata/phase/mistake_requirements.txt", phaseWith(t, t.TempDir(), wrong))
}

// A probe that is to be compiled needs Go: the build image's, or another buildpack's.
func TestPhaseRequiresGoToCompile(t *testing.T) {
	t.Setenv(config.SourceEnv, "compile")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), serverSource)
	golden.Check(t, "testdata/phase/compile_with_go.txt", phase(t, dir))
	t.Setenv("PATH", t.TempDir())
	golden.Check(t, "testdata/phase/compile_without_go.txt", phase(t, dir))
	if err := os.Remove(filepath.Join(dir, "main.go")); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/phase/compile_nothing.txt", phase(t, dir))
}

func TestPhaseListsSoManyServersAndCountsTheRest(t *testing.T) {
	dir := t.TempDir()
	for i := range 35 {
		write(t, filepath.Join(dir, fmt.Sprintf("cmd/%02d/main.go", i)), serverSource)
	}
	log := phase(t, dir)
	if found := strings.Count(log, "gRPC server found: Go"); found != 30 ||
		!strings.Contains(log, "gRPC servers found beside these: 5 (") {
		t.Errorf("%d servers are listed:\n%s", found, log)
	}
}

// phase runs the phase on the app in dir, and returns its log and its plan as text.
func phase(t *testing.T, dir string) string {
	t.Helper()
	return phaseWith(t, dir, noRequirements)
}

// phaseWith does the same for an app with requirements beside the probe.
func phaseWith(t *testing.T, dir string, requirements buildplan.Requirements) string {
	t.Helper()
	var out bytes.Buffer
	ctx := libcnb.DetectContext{ApplicationPath: dir}
	configurations := []map[string]any{{"name": config.EnabledEnv, "default": "auto"}}
	ctx.Buildpack.Metadata = map[string]any{"configurations": configurations}
	logger := log.NewPaketoLogger(&out)
	result, err := buildplan.Phase(logger, requirements)(ctx)
	if err != nil {
		file := filepath.Join(t.TempDir(), "plan.toml")
		if err := buildplan.HandOn(err, file, logger); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return colours.ReplaceAllString(out.String(), "") + string(text)
	}
	if !result.Pass {
		return colours.ReplaceAllString(out.String(), "") + "does not pass\n"
	}
	if len(result.Plans) == 0 {
		return colours.ReplaceAllString(out.String(), "") + "passes without a plan\n"
	}
	return colours.ReplaceAllString(out.String(), "") + encode(t, result.Plans)
}

// noRequirements stands for the settings of an app that requires nothing beside the probe.
func noRequirements(libcnb.DetectContext) ([]plan.Requirement, error) { return nil, nil }

// encode gives the plans as libcnb writes them.
func encode(t *testing.T, plans []libcnb.BuildPlan) string {
	t.Helper()
	var out bytes.Buffer
	if err := toml.NewEncoder(&out).Encode(libcnb.BuildPlans{BuildPlan: plans[0], Or: plans[1:]}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// write writes a file of an app.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
