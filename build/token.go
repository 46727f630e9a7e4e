package build

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/bindings"

	"github.com/grpc-cnb/health-probe/build/github"
)

const (
	// bindingType is the type of the service binding with a GitHub token, bindingKey the token's key. apiKey is the key of
	// the API that it is for; without it that is the public GitHub's.
	bindingType = "github"
	bindingKey  = "token"
	apiKey      = "api-url"
)

// readToken returns the token for the API: that of the service binding for it, else of the environment, else an empty one.
// The operator of a platform makes bindings, and the app's project.toml may name the API: a token is not for whatever API
// the app names.
func readToken(all libcnb.Bindings, api *url.URL) (github.Token, error) {
	ours, others, err := splitBindings(all, api)
	if err != nil {
		return github.Token{}, err
	}
	binding, ok, err := bindings.ResolveOne(ours)
	if err != nil {
		return github.Token{}, fmt.Errorf("finding the service binding of type %s: %w", bindingType, err)
	}
	token := github.Token{From: "$" + TokenEnv, Value: strings.TrimSpace(os.Getenv(TokenEnv))}
	if !ok && len(others) > 0 && token.Value == "" {
		return github.Token{}, fmt.Errorf("reading the service binding %q of type %s: its token is not for %s, which $%s names (if it should be, give the binding the key %q with the value %q)",
			others[0].Name, bindingType, api.Host, APIEnv, apiKey, api)
	}
	if !ok {
		return token, nil
	}
	value := strings.TrimSpace(binding.Secret[bindingKey])
	if value == "" {
		return github.Token{}, fmt.Errorf("reading the service binding %q of type %s: it has no key %q", binding.Name, bindingType, bindingKey)
	}
	return github.Token{From: fmt.Sprintf("the service binding %q", binding.Name), Value: value}, nil
}

// splitBindings returns the bindings with a token for the API, and those for another.
func splitBindings(all libcnb.Bindings, api *url.URL) (ours, others libcnb.Bindings, err error) {
	for _, binding := range bindings.Resolve(all, bindings.OfType(bindingType)) {
		of, err := github.ParseAPI(cmp.Or(strings.TrimSpace(binding.Secret[apiKey]), github.DefaultAPI))
		if err != nil {
			return nil, nil, fmt.Errorf("reading %q in the service binding %q of type %s: %w", apiKey, binding.Name, bindingType, err)
		}
		if strings.EqualFold(of.Host, api.Host) {
			ours = append(ours, binding)
		} else {
			others = append(others, binding)
		}
	}
	return ours, others, nil
}

// tokenOf returns the token in an environment variable that the user names for one repository.
func tokenOf(variable, repo string) (github.Token, error) {
	value := strings.TrimSpace(os.Getenv(variable))
	if value == "" {
		return github.Token{}, fmt.Errorf("reading the GitHub token for %s: $%s is not set", repo, variable)
	}
	return github.Token{From: "$" + variable, Value: value}, nil
}
