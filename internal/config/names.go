package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/nearest"
)

// CheckNames returns an error for an environment variable with the prefix and an unknown name: a misspelt variable
// must not be without effect. An empty variable counts as unset.
func CheckNames(prefix string, known []string) error {
	environment := os.Environ()
	slices.Sort(environment)
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, prefix) && strings.TrimSpace(value) != "" && !slices.Contains(known, name) {
			return fmt.Errorf("reading $%s: it is not known (did you mean $%s?)", name, nearest.Name(name, known))
		}
	}
	return nil
}
