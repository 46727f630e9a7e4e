// Package config reads the build variables that users set, and checks their values: the environment goes in, a [Config]
// that both phases use comes out. It imports nothing of this module.
//
// [Variables] says of each variable what it means and how it is read. Begin with [Read].
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
	// Enabled is the value of EnabledEnv, "" if it is not allowed.
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
	// Args are the probe's default flags, split as a shell splits words. Whether the probe has such flags is not
	// checked.
	Args []string
	// Repo, Asset, Version and SHA256 say what to download. They are not checked.
	Repo, Asset, Version, SHA256 string
	// GitHubAPI is the address of GitHub's API. It is not checked.
	GitHubAPI string

	err error
}

// Err returns what is wrong with a value, nil if all of them are right. The build fails with it. The detect phase
// must not: the lifecycle would leave an optional buildpack out without a word.
func (c Config) Err() error { return c.err }

// Ineffective returns a sentence for each variable that is set and has no effect, because of what another one is.
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

// Read reads the build variables. If a variable is unset or empty, it takes its default in defaults, which are those
// of buildpack.toml by the variables' names; without one there, that of [Variables]. The first mistake in a value is
// the [Config.Err] of what it returns; so is a variable with [Prefix] that nobody knows.
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

// value returns the value of a variable without the space around it. Templates often set a variable to nothing where
// they mean that it is not set, so an empty value counts as unset.
func (r *reader) value(variable Variable) string {
	if value := strings.TrimSpace(os.Getenv(variable.Name)); value != "" {
		return value
	}
	if value, ok := r.defaults[variable.Name]; ok {
		return value
	}
	return variable.Default
}

// choice returns the value of a variable that has a list of allowed values, in lower case.
func (r *reader) choice(variable Variable) string {
	value := r.value(variable)
	if slices.Contains(variable.Values, strings.ToLower(value)) {
		return strings.ToLower(value)
	}
	r.fail(fmt.Errorf("reading $%s: %q is not allowed: use %s", variable.Name, value, variable.allowed()))
	return ""
}

// read has the value of a variable read into the Config.
type read func(r *reader, config *Config, variable Variable)

// text reads a value as it is into a field.
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

// processType is what the buildpack specification lets the type of a process be (launch.toml, processes).
var processType = lazyregexp.New(`^[A-Za-z0-9._-]+$`)

// processTypes reads types of processes, with spaces between them.
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
