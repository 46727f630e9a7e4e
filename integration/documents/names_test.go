package documents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

var (
	probeVariable = regexp.MustCompile(`\bGRPC_HEALTH_PROBE_[A-Z0-9_]*[A-Z0-9]`)
	buildVariable = regexp.MustCompile(`\bBP_GRPC_HEALTH_PROBE_[A-Z0-9_]*[A-Z0-9]`)
	layerPath     = regexp.MustCompile("/layers/grpc-cnb_health-probe/[^]\\s\"`,:)]*")
	flagInProse   = regexp.MustCompile("`-([a-z][a-z-]*)(?:=[^`]*)?`")
	// probeCommand is a command as YAML and JSON have it in one line.
	probeCommand = regexp.MustCompile(`\["(?:CMD", ")?` + harness.ProbePath + `"[^]]*\]`)
)

// otherFlags are those of pack and of the go command that the documents name.
var otherFlags = []string{"b", "buildmode", "buildvcs", "ldflags", "mod", "trimpath"}

// TestDocumentNames makes sure that documents and examples call variables and flags by the names that they have in the
// code.
func TestDocumentNames(t *testing.T) {
	t.Parallel()
	descriptor := string(must(os.ReadFile(filepath.Join(repository, "buildpack.toml")))(t))
	for path, text := range allTexts(t) {
		for _, name := range buildVariable.FindAllString(text, -1) {
			if !strings.Contains(descriptor, `"`+name+`"`) {
				t.Errorf("%s: there is no build variable %s", path, name)
			}
		}
		for _, name := range probeVariable.FindAllString(text, -1) {
			// The version is one that Dockerfiles set, and that the probe does not read.
			if name != "GRPC_HEALTH_PROBE_VERSION" && !isVariable(name) {
				t.Errorf("%s: no flag of the probe has the variable %s", path, name)
			}
		}
		for _, match := range flagInProse.FindAllStringSubmatch(text, -1) {
			if !isFlag(match[1]) && !slices.Contains(otherFlags, match[1]) {
				t.Errorf("%s: the probe has no flag -%s", path, match[1])
			}
		}
	}
}

// TestDocumentPaths makes sure that documents and examples name the probe by the path that it has in an image, and give
// it flags that it accepts.
func TestDocumentPaths(t *testing.T) {
	t.Parallel()
	second := filepath.Join(filepath.Dir(harness.ProbePath), "grpc-health-probe")
	for path, text := range allTexts(t) {
		for _, file := range layerPath.FindAllString(text, -1) {
			for _, program := range []string{harness.ProbePath, second} {
				if filepath.Base(file) == filepath.Base(program) && file != program {
					t.Errorf("%s: the probe is not at %s", path, file)
				}
			}
		}
		for _, command := range probeCommand.FindAllString(text, -1) {
			var words []string
			err := json.Unmarshal([]byte(command), &words)
			if err == nil {
				_, err = documents.CheckProbe(words)
			}
			if err != nil {
				t.Errorf("%s: %s: %v", path, command, err)
			}
		}
	}
}

var ratio = regexp.MustCompile(`\b0\.\d\d\b`)

// TestReadmeFigures makes sure that the ratios in the README are measured ones, of the lean probe.
func TestReadmeFigures(t *testing.T) {
	t.Parallel()
	var measured strings.Builder
	for _, row := range must(documents.Read(filepath.Join(repository, "docs/benchmarks.txt")))(t).Rows {
		if row.Cells[0] == "lean" {
			measured.WriteString(strings.Join(row.Cells, " ") + "\n")
		}
	}
	figures := ratio.FindAllString(string(must(os.ReadFile(filepath.Join(repository, "README.md")))(t)), -1)
	for _, figure := range figures {
		if !strings.Contains(measured.String(), figure) {
			t.Errorf("the README has the ratio %s, which is not in docs/benchmarks.txt:\n%s", figure, measured.String())
		}
	}
	if len(figures) == 0 {
		t.Error("the README has no ratio")
	}
}

// isVariable reports whether an environment variable sets a flag of the probe or of the bridge.
func isVariable(name string) bool {
	own := []string{bridgeflags.ListenEnv, bridgeflags.AllowEnv, bridgeflags.NameEnv, bridgeflags.BackgroundEnv}
	return slices.Contains(own, name) ||
		slices.ContainsFunc(flags.All(), func(f flags.Flag) bool { return f.Variable == name })
}

// isFlag reports whether the probe or the bridge has a flag of that name, or helps by it.
func isFlag(name string) bool {
	own := []string{"h", "help", bridgeflags.Listen, bridgeflags.Allow, bridgeflags.Name, bridgeflags.Background}
	return slices.Contains(own, name) ||
		slices.ContainsFunc(flags.All(), func(f flags.Flag) bool { return f.Name == name })
}
