package build

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/paketo-buildpacks/libpak/v2"

	"github.com/grpc-cnb/health-probe/detect"
)

// Each build variable is a constant here, an entry in buildpack.toml, and a row of the README's table.
func TestBuildVariablesAreTheSameInCodeDescriptorAndReadme(t *testing.T) {
	want := []string{ArgsEnv, detect.EnabledEnv, detect.SourceEnv, VariantEnv, RepoEnv, AssetEnv, VersionEnv, SHA256Env, APIEnv, TokenEnv}
	slices.Sort(want)

	var descriptor struct {
		Metadata map[string]any `toml:"metadata"`
	}
	if _, err := toml.DecodeFile("../buildpack.toml", &descriptor); err != nil {
		t.Fatal(err)
	}
	metadata, err := libpak.NewBuildModuleMetadata(descriptor.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for _, configuration := range metadata.Configurations {
		described = append(described, configuration.Name)
	}
	slices.Sort(described)
	if !slices.Equal(described, want) {
		t.Errorf("buildpack.toml describes %q, the code reads %q", described, want)
	}

	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(BP_(?:GRPC|GITHUB)_[A-Z0-9_]+)`").FindAllSubmatch(readme, -1) {
		rows = append(rows, string(row[1]))
	}
	slices.Sort(rows)
	if !slices.Equal(rows, want) {
		t.Errorf("the README has rows for %q, the code reads %q", rows, want)
	}
}
