package config_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/descriptor"
	"github.com/grpc-cnb/health-probe/internal/golden"
)

// defaultsOf returns the defaults in buildpack.toml.
func defaultsOf(t *testing.T) map[string]string {
	t.Helper()
	var file struct {
		Metadata map[string]any `toml:"metadata"`
	}
	if _, err := toml.DecodeFile("../../buildpack.toml", &file); err != nil {
		t.Fatal(err)
	}
	defaults, err := descriptor.Defaults(file.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	return defaults
}

// references are brackets of a variable's meaning that begin with a link: they say nothing without it. Of other links
// the text stays.
var (
	references = regexp.MustCompile(` \(\[[^\]]*\]\([^)]*\)[^)]*\)`)
	links      = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// buildpack.toml has each variable, with its meaning and its default, and no other.
func TestDescriptorHasEachVariable(t *testing.T) {
	const file = "../../buildpack.toml"
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, variable := range config.Variables {
		meaning := references.ReplaceAllString(variable.Meaning, "")
		plain := strings.ReplaceAll(links.ReplaceAllString(meaning, "$1"), "`", "")
		fmt.Fprintf(&want, "[[metadata.configurations]]\nname = %q\ndescription = %q\n", variable.Name, plain)
		if variable.Default != "" {
			fmt.Fprintf(&want, "default = %q\n", variable.Default)
		}
		want.WriteString("build = true\n\n")
	}
	const begin, end = "[[metadata.configurations]]\n", "# The digests of"
	from, to := strings.Index(string(content), begin), strings.Index(string(content), end)
	if from < 0 || to < from {
		t.Fatalf("%s has no %q and %q", file, begin, end)
	}
	golden.Check(t, file, string(content[:from])+want.String()+string(content[to:]))
}

// The table of docs/build-variables.md has a row for each variable, with its meaning and its default, and for no other.
func TestTheTableHasEachVariable(t *testing.T) {
	const file = "../../docs/build-variables.md"
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, variable := range config.Variables {
		value := "none"
		if variable.Default != "" {
			value = "`" + variable.Default + "`"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", variable.Name, variable.Meaning, value)
		for _, allowed := range variable.Values {
			if !strings.Contains(variable.Meaning, "`"+allowed+"`: ") {
				t.Errorf("%s does not say what %s does", variable.Name, allowed)
			}
		}
	}
	rows := regexp.MustCompile("(?m)(?:^\\| `BP_(?:GRPC|GITHUB)_.*\n)+")
	if found := rows.FindAllString(string(content), -1); len(found) != 1 {
		t.Fatalf("%s has %d tables of build variables", file, len(found))
	}
	golden.Check(t, file, rows.ReplaceAllLiteralString(string(content), want.String()))
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
	defaults := defaultsOf(t)
	for _, c := range []struct{ name, value, want string }{
		{config.EnabledEnv, " TRUE ", ""},
		{config.EnabledEnv, " ", ""},
		{
			config.EnabledEnv, "maybe",
			`reading $BP_GRPC_HEALTH_PROBE_ENABLED: "maybe" is not allowed: use auto, required, true or false`,
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
			"splitting $BP_GRPC_HEALTH_PROBE_ARGS into shell words: Unterminated single-quoted string " +
				`(close it, or write \ before it)`,
		},
		{config.ProcessesEnv, " web  grpc-1.a_b ", ""},
		{
			config.ProcessesEnv, "web,grpc",
			`reading $BP_GRPC_HEALTH_PROBE_BRIDGE_PROCESSES: "web,grpc" is not a process type: use letters, digits, ` +
				"., _ and -, and spaces between several",
		},
		{
			config.ProcessesEnv, "web ..",
			`reading $BP_GRPC_HEALTH_PROBE_BRIDGE_PROCESSES: ".." is not a process type: use letters, digits, ` +
				"., _ and -, and spaces between several",
		},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			message := ""
			if err := config.Read(defaults).Err(); err != nil {
				message = err.Error()
			}
			if message != c.want {
				t.Errorf("the error is %s, want %s", message, c.want)
			}
		})
	}
}

// A variable whose meaning begins with a value of another one has no effect without that.
func TestVariablesWithoutEffect(t *testing.T) {
	values := regexp.MustCompile("^for `([a-z]+)`: ")
	others := map[string]string{config.Download: config.SourceEnv, config.BridgeLaunch: config.BridgeEnv}
	for _, variable := range config.Variables {
		found := values.FindStringSubmatch(variable.Meaning)
		t.Run(variable.Name, func(t *testing.T) {
			t.Setenv(variable.Name, variable.Example)
			var want []string
			if found != nil {
				other := others[found[1]]
				want = []string{fmt.Sprintf("$%s has no effect without $%s=%s", variable.Name, other, found[1])}
			}
			if got := config.Read(nil).Ineffective(); !slices.Equal(got, want) {
				t.Errorf("it says %q, want %q", got, want)
			}
			if found != nil {
				t.Setenv(others[found[1]], found[1])
			}
			if got := config.Read(nil).Ineffective(); got != nil {
				t.Errorf("with what it needs it says %q", got)
			}
		})
	}
}

func TestUnsetVariablesHaveTheirDefaults(t *testing.T) {
	for _, defaults := range []map[string]string{nil, defaultsOf(t)} {
		got := config.Read(defaults)
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

// A buildpack that somebody has changed may have other defaults, which hold for variables without a value.
func TestDefaultsOfTheDescriptorHold(t *testing.T) {
	defaults := map[string]string{config.RepoEnv: "me/probe", config.VersionEnv: "v1.0.0"}
	t.Setenv(config.VersionEnv, "v2.0.0")
	if got := config.Read(defaults); got.Repo != "me/probe" || got.Version != "v2.0.0" {
		t.Errorf("the probe is that of %s in the version %s", got.Repo, got.Version)
	}
}
