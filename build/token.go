package build

import (
	"fmt"
	"os"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/bindings"

	"github.com/grpc-cnb/health-probe/build/github"
)

const (
	// bindingType is the type of the service binding with a GitHub token, and bindingKey its key.
	bindingType = "github"
	bindingKey  = "token"
)

// readToken returns the GitHub token of a service binding, else of the environment, else an empty one.
func readToken(all libcnb.Bindings) (github.Token, error) {
	binding, ok, err := bindings.ResolveOne(all, bindings.OfType(bindingType))
	if err != nil {
		return github.Token{}, fmt.Errorf("finding the service binding of type %s: %w", bindingType, err)
	}
	if !ok {
		return github.Token{From: "$" + TokenEnv, Value: strings.TrimSpace(os.Getenv(TokenEnv))}, nil
	}
	value := strings.TrimSpace(binding.Secret[bindingKey])
	if value == "" {
		return github.Token{}, fmt.Errorf("reading the service binding %q of type %s: it has no key %q", binding.Name, bindingType, bindingKey)
	}
	return github.Token{From: fmt.Sprintf("the service binding %q", binding.Name), Value: value}, nil
}

// tokenOf returns the token in an environment variable that the user names for one repository.
func tokenOf(variable, repo string) (github.Token, error) {
	value := strings.TrimSpace(os.Getenv(variable))
	if value == "" {
		return github.Token{}, fmt.Errorf("reading the GitHub token for %s: $%s is not set", repo, variable)
	}
	return github.Token{From: "$" + variable, Value: value}, nil
}
