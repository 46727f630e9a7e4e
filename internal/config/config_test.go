package config_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"

	"github.com/grpc-cnb/health-probe/internal/config"
)

// descriptor returns the configurations in buildpack.toml, and its metadata as libcnb passes it on.
func descriptor(t *testing.T) ([]libpak.BuildModuleConfiguration, map[string]any) {
	t.Helper()
	var file struct {
		Metadata map[string]any `toml:"metadata"`
	}
	if _, err := toml.DecodeFile("../../buildpack.toml", &file); err != nil {
		t.Fatal(err)
	}
	metadata, err := libpak.NewBuildModuleMetadata(file.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	return metadata.Configurations, file.Metadata
}

// buildpack.toml has each variable, with the same default, and no other.
func TestDescriptorHasEachVariable(t *testing.T) {
	configurations, _ := descriptor(t)
	for _, variable := range config.Variables {
		isIt := func(c libpak.BuildModuleConfiguration) bool { return c.Name == variable.Name }
		i := slices.IndexFunc(configurations, isIt)
		if i < 0 {
			t.Errorf("buildpack.toml has no [[metadata.configurations]] for %s: %s", variable.Name, variable.Meaning)
			continue
		}
		if got := configurations[i]; got.Default != variable.Default || got.Description == "" || !got.Build {
			t.Errorf("buildpack.toml has %+v, the code %+v", got, variable)
		}
		configurations = slices.Delete(configurations, i, i+1)
	}
	for _, left := range configurations {
		t.Errorf("buildpack.toml has %s, which nothing reads", left.Name)
	}
}

// The README's table has a row for each variable, with its values and its default, and for no other.
func TestReadmeHasEachVariable(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][2]string{}
	pattern := regexp.MustCompile("(?m)^\\| `(BP_(?:GRPC|GITHUB)_[A-Z0-9_]+)` \\| (.*) \\| (.*) \\|$")
	for _, row := range pattern.FindAllStringSubmatch(string(text), -1) {
		rows[row[1]] = [2]string{row[2], row[3]}
	}
	for _, variable := range config.Variables {
		row, ok := rows[variable.Name]
		if !ok {
			t.Errorf("README.md has no row for %s: %s", variable.Name, variable.Meaning)
			continue
		}
		delete(rows, variable.Name)
		want := "none"
		if variable.Default != "" {
			want = "`" + variable.Default + "`"
		}
		if row[1] != want {
			t.Errorf("README.md gives %s the default %s, the code %s", variable.Name, row[1], want)
		}
		for _, value := range variable.Values {
			if !strings.Contains(row[0], "`"+value+"`") {
				t.Errorf("README.md does not say what %s=%s does", variable.Name, value)
			}
		}
	}
	for name := range rows {
		t.Errorf("README.md has a row for %s, which nothing reads", name)
	}
}

func TestVariablesAreDescribed(t *testing.T) {
	for _, variable := range config.Variables {
		if variable.Meaning == "" || variable.Example == "" {
			t.Errorf("%s has no meaning or no example", variable.Name)
		}
		if len(variable.Values) > 0 && !(slices.Contains(variable.Values, variable.Default) &&
			slices.Contains(variable.Values, variable.Example)) {
			t.Errorf("the default %q or the example %q of %s is not allowed",
				variable.Default, variable.Example, variable.Name)
		}
	}
}

// Each case sets one variable. want is the error.
func TestRead(t *testing.T) {
	_, metadata := descriptor(t)
	for _, c := range []struct{ name, value, want string }{
		{config.EnabledEnv, " TRUE ", ""},
		{config.EnabledEnv, " ", ""},
		{
			config.EnabledEnv, "maybe",
			`reading $BP_GRPC_HEALTH_PROBE_ENABLED: "maybe" is not allowed: use auto, true or false`,
		},
		{config.SourceEnv, "Compile", ""},
		{config.SourceEnv, "", ""},
		{
			config.SourceEnv, "apt",
			`reading $BP_GRPC_HEALTH_PROBE_SOURCE: "apt" is not allowed: use bundled, compile or download`,
		},
		{
			config.VariantEnv, "fat",
			`reading $BP_GRPC_HEALTH_PROBE_VARIANT: "fat" is not allowed: use auto, lean or full`,
		},
		{
			"BP_GRPC_HEALTH_PROBE_SHA265", "x",
			"reading $BP_GRPC_HEALTH_PROBE_SHA265: it is not known (did you mean $BP_GRPC_HEALTH_PROBE_SHA256?)",
		},
		{
			"BP_GRPC_HEALTH_PROBE_ARG", "-tls",
			"reading $BP_GRPC_HEALTH_PROBE_ARG: it is not known (did you mean $BP_GRPC_HEALTH_PROBE_ARGS?)",
		},
		{"BP_GRPC_HEALTH_PROBE_ARG", " ", ""},
		{
			config.ArgsEnv, "'",
			"splitting $BP_GRPC_HEALTH_PROBE_ARGS into shell words: Unterminated single-quoted string",
		},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			message := ""
			if err := config.Read(libcnb.Buildpack{Metadata: metadata}).Err(); err != nil {
				message = err.Error()
			}
			if message != c.want {
				t.Errorf("the error is %s, want %s", message, c.want)
			}
		})
	}
}

func TestUnsetVariablesHaveTheirDefaults(t *testing.T) {
	_, metadata := descriptor(t)
	for _, buildpack := range []libcnb.Buildpack{{}, {Metadata: metadata}} {
		got := config.Read(buildpack)
		if got.Err() != nil {
			t.Fatal(got.Err())
		}
		for name, value := range map[string]string{
			config.EnabledEnv: got.Enabled, config.SourceEnv: got.Source, config.VariantEnv: got.Variant,
			config.RepoEnv: got.Repo, config.AssetEnv: got.Asset, config.VersionEnv: got.Version,
			config.SHA256Env: got.SHA256, config.GitHubAPIEnv: got.GitHubAPI,
		} {
			i := slices.IndexFunc(config.Variables, func(v config.Variable) bool { return v.Name == name })
			if value != config.Variables[i].Default {
				t.Errorf("%s is %q, not %q", name, value, config.Variables[i].Default)
			}
		}
		if len(got.Args) > 0 {
			t.Errorf("the default flags are %q", got.Args)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"repo", "asset", "tag", "sha256", "token_env", "destination", "strip_components"}
	for name, want := range map[string]string{
		"sha265": "sha256", "Sha256": "sha256", "token": "token_env",
		"repository":      "repo",
		"stripcomponents": "strip_components", "": "tag",
	} {
		if got := config.Nearest(name, known); got != want {
			t.Errorf("%q is nearest to %q, not to %q", name, got, want)
		}
	}
}
