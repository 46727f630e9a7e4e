package github

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/bindings"

	"github.com/grpc-cnb/health-probe/internal/config"
)

// Token is a secret for the API. From names the source of the secret. A token prints as From.
type Token struct {
	From, Value string
}

// String returns where the token was found.
func (t Token) String() string { return t.From }

// GoString returns where the token was found.
func (t Token) GoString() string { return t.From }

// check returns what is wrong with the token, without repeating it.
func (t Token) check() error {
	for _, r := range t.Value {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("reading the GitHub token from %s: it has characters that no token has, such as a "+
				"space or a line break", t.From)
		}
	}
	return nil
}

const (
	// bindingType is the type of a service binding with a GitHub token.
	bindingType = "github"
	// tokenKey is the key of the binding with the token.
	tokenKey = "token"
	// apiKey is the key of the binding with the address of the token's API, by default the public GitHub's.
	apiKey = "api-url"
)

// readToken returns the token for the API: from the service binding for the API, else from the environment, else empty.
// The operator of a platform makes bindings, and an app's project.toml may name any API: a binding's token is not for
// every API that an app names.
func readToken(all libcnb.Bindings, api *url.URL) (Token, error) {
	matching, others, err := splitBindings(all, api)
	if err != nil {
		return Token{}, err
	}
	binding, ok, err := bindings.ResolveOne(matching)
	if err != nil {
		return Token{}, fmt.Errorf("finding the service binding of type %s: %w", bindingType, err)
	}
	token := Token{From: "$" + config.GitHubTokenEnv, Value: strings.TrimSpace(os.Getenv(config.GitHubTokenEnv))}
	if !ok && len(others) > 0 && token.Value == "" {
		return Token{}, fmt.Errorf("reading the service binding %q of type %s: its token is not for %s, which $%s "+
			"names (if it should be, give the binding the key %q with the value %q)",
			others[0].Name, bindingType, api.Host, config.GitHubAPIEnv, apiKey, api)
	}
	if !ok {
		return token, nil
	}
	value := strings.TrimSpace(binding.Secret[tokenKey])
	if value == "" {
		return Token{}, fmt.Errorf("reading the service binding %q of type %s: it has no key %q",
			binding.Name, bindingType, tokenKey)
	}
	return Token{From: fmt.Sprintf("the service binding %q", binding.Name), Value: value}, nil
}

// splitBindings returns the bindings with a token for the API, and those with a token for another API.
func splitBindings(all libcnb.Bindings, api *url.URL) (matching, others libcnb.Bindings, err error) {
	for _, binding := range bindings.Resolve(all, bindings.OfType(bindingType)) {
		of, err := ParseAPI(cmp.Or(strings.TrimSpace(binding.Secret[apiKey]), DefaultAPI))
		if err != nil {
			return nil, nil, fmt.Errorf("reading %q in the service binding %q of type %s: %w",
				apiKey, binding.Name, bindingType, err)
		}
		if strings.EqualFold(of.Host, api.Host) {
			matching = append(matching, binding)
		} else {
			others = append(others, binding)
		}
	}
	return matching, others, nil
}

// tokenOf returns the token in a user's environment variable for a repository.
func tokenOf(variable, repo string) (Token, error) {
	value := strings.TrimSpace(os.Getenv(variable))
	if value == "" {
		return Token{}, fmt.Errorf("reading the GitHub token for %s: $%s is not set", repo, variable)
	}
	return Token{From: "$" + variable, Value: value}, nil
}
