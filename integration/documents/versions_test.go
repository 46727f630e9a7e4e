package documents_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"golang.org/x/mod/modfile"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

// TestSupportedVersions compares the table of what is supported with buildpack.toml and with the versions that the
// tests use.
func TestSupportedVersions(t *testing.T) {
	t.Parallel()
	var descriptor struct {
		API     string `toml:"api"`
		Targets []struct{ OS, Arch string }
	}
	if _, err := toml.DecodeFile(filepath.Join(repository, "buildpack.toml"), &descriptor); err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, target := range descriptor.Targets {
		targets = append(targets, target.OS+"/"+target.Arch)
	}
	lifecycles := []string{
		required(t, "integration/tools/oldest", "github.com/buildpacks/lifecycle"),
		required(t, "integration/tools", "github.com/buildpacks/lifecycle"),
	}
	for _, row := range []struct {
		part   string
		column int
		want   []string
	}{
		{"Buildpack API", 1, []string{descriptor.API}},
		{"Buildpack API", 2, []string{descriptor.API}},
		{"lifecycle", 2, lifecycles},
		{"pack", 2, []string{required(t, "integration", "github.com/buildpacks/pack")}},
		{"architecture of the image", 1, targets},
		{"Kubernetes, exec probes", 2, []string{
			required(t, "integration/cluster/tools/kubernetes", "k8s.io/kubernetes"),
			required(t, "integration/tools", "github.com/containerd/containerd/v2"),
			required(t, "integration/tools", "github.com/opencontainers/runc"),
		}},
		{"Podman", 2, []string{required(t, "integration/schemas", "github.com/containers/podman/v5")}},
	} {
		if got := supported(t, row.part, row.column); !slices.Equal(got, row.want) {
			t.Errorf("docs/platforms.md: the row %q has %q, want %q", row.part, got, row.want)
		}
	}
	oldest := strings.TrimPrefix(lifecycles[0], "v")
	for _, row := range rows(t, "docs/platforms.md", "part") {
		if row.Cells[0] == "lifecycle" && !strings.HasPrefix(row.Cells[1], oldest+" ") {
			t.Errorf("docs/platforms.md: the oldest lifecycle is %s, the table says %q", oldest, row.Cells[1])
		}
	}
}

var backquoted = regexp.MustCompile("`([^`]+)`")

// supported returns the code in a cell of the table.
func supported(t *testing.T, part string, column int) (found []string) {
	t.Helper()
	for _, row := range rows(t, "docs/platforms.md", "part") {
		if row.Cells[0] == part {
			for _, match := range backquoted.FindAllStringSubmatch(row.Cells[column], -1) {
				found = append(found, match[1])
			}
		}
	}
	return found
}

var (
	unreleasedMark    = regexp.MustCompile(`(?m)^<!-- unreleased -->\n(.+\n)+<!-- /unreleased -->$`)
	unreleasedSection = regexp.MustCompile(`(?m)^## \S+ \(unreleased\)$`)
)

// TestUnreleased makes sure that the documents say in one place, between two marks, that nothing is published, and
// there only as long as the changelog calls the version unreleased.
func TestUnreleased(t *testing.T) {
	t.Parallel()
	marks, lines, sections := 0, 0, 0
	for path, text := range allTexts(t) {
		marks += len(unreleasedMark.FindAllString(text, -1))
		lines += strings.Count(text, "unreleased -->")
		if filepath.Base(path) == "CHANGELOG.md" {
			sections = len(unreleasedSection.FindAllString(text, -1))
		}
	}
	if marks != sections || lines != 2*marks || marks > 1 {
		t.Errorf("%d places between marks and %d lines of marks, with %d unreleased versions in CHANGELOG.md", marks,
			lines, sections)
	}
}

// typesIn are the modules with whose types an example is checked, by what the rows of the examples call them.
var typesIn = map[string]string{
	"Tekton Pipelines": "github.com/tektoncd/pipeline", "kpack": "github.com/pivotal/kpack",
	"Skaffold": "github.com/GoogleContainerTools/skaffold/v2", "Knative Serving": "knative.dev/serving",
	"Podman": "github.com/containers/podman/v5", "service/ecs": "github.com/aws/aws-sdk-go-v2/service/ecs",
	"Nomad": "github.com/hashicorp/nomad",
}

// runIn are the folders whose go.mod pins the programs of platforms that are run.
var runIn = map[string][]string{
	"Tekton Pipelines": {"integration/cluster/tools/tekton"}, "kpack": {"integration/cluster/tools/kpack"},
	"Skaffold": {"integration/cluster/tools/skaffold"},
}

var named = regexp.MustCompile(`([A-Za-z/]+(?: Pipelines| Serving)?) (v\d+\.\d+\.\d+)`)

// TestExamplesNameTheirTypes compares the versions in the tables of examples with those that the tests use.
func TestExamplesNameTheirTypes(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, path := range []string{"docs/platforms.md", "docs/health-checks.md"} {
		for _, row := range must(documents.Read(filepath.Join(repository, path)))(t).Rows {
			if row.Head != "platform" {
				continue
			}
			for _, match := range named.FindAllStringSubmatch(row.Cells[2], -1) {
				module, ok := typesIn[match[1]]
				if !ok {
					t.Errorf("%s: no module is known for %q", path, match[0])
					continue
				}
				found[match[1]] = true
				for _, folder := range append(runIn[match[1]], "integration/schemas") {
					if want := required(t, folder, module); match[2] != want {
						t.Errorf("%s: %s has %s in %s, the table says %s", path, match[1], want, folder, match[2])
					}
				}
			}
		}
	}
	if len(found) != len(typesIn) {
		t.Errorf("only %v have a version in a table", found)
	}
}

// required returns the version of a module that the go.mod of a folder requires.
func required(t *testing.T, folder, module string) string {
	t.Helper()
	path := filepath.Join(repository, folder, "go.mod")
	file := must(modfile.Parse(path, must(os.ReadFile(path))(t), nil))(t)
	for _, require := range file.Require {
		if require.Mod.Path == module {
			return require.Mod.Version
		}
	}
	t.Fatalf("%s does not require %s", path, module)
	return ""
}
