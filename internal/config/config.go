// Package config reads and checks the build variables of users: the environment goes in, a [Config] for both phases
// comes out.
//
// [Variables] holds the meaning and the reading of each variable. Begin with [Read].
package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Config holds the values of the build variables.
type Config struct {
	// Enabled is the value of EnabledEnv, "" for a value that is not allowed.
	Enabled string
	// Source is the value of SourceEnv.
	Source string
	// DetectPort is the value of DetectPortEnv.
	DetectPort bool
	// Discover is the value of DiscoverEnv.
	Discover bool
	// Variant is the value of VariantEnv.
	Variant string
	// Bridge is the value of BridgeEnv.
	Bridge string
	// Processes are the process types that the bridge starts with; none means all.
	Processes []string
	// Args are the probe's default flags, as shell words, unchecked.
	Args []string
	// Repo, Asset, Version and SHA256 say what to download, unchecked.
	Repo, Asset, Version, SHA256 string
	// GitHubAPI is the address of GitHub's API, unchecked.
	GitHubAPI string

	err error
}

// Err returns the first mistake in a value, nil for none. The build fails with the mistake. The detect phase must not
// fail: the lifecycle would leave an optional buildpack out without a word.
func (c Config) Err() error { return c.err }

// Ineffective returns a sentence for each set variable without effect because of another variable's value.
func (c Config) Ineffective() []string {
	var sentences []string
	for _, variable := range Variables {
		needs := variable.needs
		if needs.name != "" && strings.TrimSpace(os.Getenv(variable.Name)) != "" && !needs.isMet(c) {
			sentences = append(sentences,
				fmt.Sprintf("$%s has no effect without $%s=%s", variable.Name, needs.name, needs.value))
		}
	}
	return sentences
}

// Read reads the build variables. An unset or empty variable takes the value in defaults, the defaults of
// buildpack.toml by name, or else the default in [Variables]. The first mistake in a value is the [Config.Err] of the
// result; so is an unknown variable with [Prefix].
func Read(defaults map[string]string) Config {
	r := reader{defaults: defaults}
	var config Config
	names := make([]string, len(Variables))
	for i, variable := range Variables {
		names[i] = variable.Name
		if variable.read != nil {
			variable.read(&r, &config, variable)
		}
	}
	if err := CheckNames(Prefix, names); err != nil {
		r.fail(err)
	}
	config.err = r.err
	return config
}

// reader reads values and keeps the first error.
type reader struct {
	defaults map[string]string
	err      error
}

// value returns the value of a variable, trimmed. An empty value counts as unset: templates often set a variable to
// nothing to mean unset.
func (r *reader) value(variable Variable) string {
	if value := strings.TrimSpace(os.Getenv(variable.Name)); value != "" {
		return value
	}
	if value, ok := r.defaults[variable.Name]; ok {
		return value
	}
	return variable.Default
}

// choice returns the value of a variable with a list of allowed values, in lower case.
func (r *reader) choice(variable Variable) string {
	value := r.value(variable)
	if slices.Contains(variable.Values, strings.ToLower(value)) {
		return strings.ToLower(value)
	}
	r.fail(fmt.Errorf("reading $%s: %q is not allowed: use %s", variable.Name, value, variable.allowed()))
	return ""
}

// read reads the value of a variable into the Config.
type read func(r *reader, config *Config, variable Variable)

// text reads a value unchanged into a field.
func text(field func(*Config) *string) read {
	return func(r *reader, config *Config, variable Variable) { *field(config) = r.value(variable) }
}

// choice reads one of the variable's values.
func choice(field func(*Config) *string) read {
	return func(r *reader, config *Config, variable Variable) { *field(config) = r.choice(variable) }
}

// isTrue reads "true" or "false".
func isTrue(field func(*Config) *bool) read {
	return func(r *reader, config *Config, variable Variable) { *field(config) = r.choice(variable) == "true" }
}

// words reads a value as a shell splits it.
func words(field func(*Config) *[]string) read {
	return func(r *reader, config *Config, variable Variable) {
		words, err := shellquote.Split(r.value(variable))
		if err != nil {
			r.fail(fmt.Errorf("splitting $%s into shell words: %w (close it, or write \\ before it)", variable.Name,
				err))
		}
		*field(config) = words
	}
}

// processType matches the process types of the buildpack specification (launch.toml, processes).
var processType = lazyregexp.New(`^[A-Za-z0-9._-]+$`)

// processTypes reads types of processes, separated by spaces.
func processTypes(field func(*Config) *[]string) read {
	return func(r *reader, config *Config, variable Variable) {
		types := strings.Fields(r.value(variable))
		for _, name := range types {
			if !processType.MatchString(name) || strings.Trim(name, ".") == "" {
				r.fail(fmt.Errorf("reading $%s: %q is not a process type: use letters, digits, ., _ and -, and "+
					"spaces between several", variable.Name, name))
			}
		}
		*field(config) = types
	}
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}
