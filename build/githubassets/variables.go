package githubassets

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/internal/config"
)

// prefix may stand before the names of the variables with an older form: BP_GITHUB_ASSET_REPO is preferred to REPO.
const prefix = "BP_GITHUB_ASSET_"

// The names of the build variables; names with an older form are without the prefix.
const (
	pathEnv    = "GITHUB_ASSETS_PATH"
	repoEnv    = "REPO"
	fileEnv    = "FILE"
	targetEnv  = "TARGET"
	versionEnv = "VERSION"
	tokenEnv   = "TOKEN"
	sha256Env  = "BP_GITHUB_ASSET_SHA256"
)

// Variables are the build variables for assets. They are not in buildpack.toml, since names such as REPO are only read
// for apps that used github-assets-cnb.
var Variables = []config.Variable{
	{
		Name: pathEnv, Meaning: "the file to read in place of project.toml, below the app's folder",
		Default: projectFile, Example: "deploy/assets.toml",
	},
	{Name: repoEnv, Meaning: "the repository, owner/name; needs " + fileEnv, Example: "stedolan/jq"},
	{Name: fileEnv, Meaning: "the asset's name; needs " + repoEnv, Example: "jq-linux64"},
	{Name: targetEnv, Meaning: "the name to give a single file, in bin; by default the asset's", Example: "jq"},
	{Name: versionEnv, Meaning: "the release's tag, or latest", Default: github.Latest, Example: "jq-1.6"},
	{Name: tokenEnv, Meaning: "a GitHub token for the repository", Example: "ghp_..."},
	{
		Name: sha256Env, Meaning: "the SHA-256 in hex that the file must have",
		Example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	},
}

// readVariables returns the asset that build variables ask for, if any. Names such as REPO may have another purpose,
// and have no effect alone, unlike names with the prefix.
func readVariables() (request Request, ok bool, err error) {
	known := []string{sha256Env}
	for _, name := range []string{repoEnv, fileEnv, targetEnv, versionEnv, tokenEnv} {
		known = append(known, prefix+name)
	}
	if err := config.CheckNames(prefix, known); err != nil {
		return Request{}, false, err
	}
	repo, _ := variable(repoEnv)
	file, _ := variable(fileEnv)
	if repo == "" || file == "" {
		for _, name := range known {
			// A token may be set for other builds.
			if strings.TrimSpace(os.Getenv(name)) != "" && name != prefix+tokenEnv {
				return Request{}, false, fmt.Errorf("reading $%s: it asks for a GitHub asset, which needs both $%s "+
					"and $%s", name, prefix+repoEnv, prefix+fileEnv)
			}
		}
		return Request{}, false, nil
	}
	destination, _ := variable(targetEnv)
	tag, _ := variable(versionEnv)
	_, tokenName := variable(tokenEnv)
	return Request{
		Request:  github.Request{Repo: repo, Asset: file, Tag: tag, SHA256: strings.TrimSpace(os.Getenv(sha256Env))},
		TokenEnv: tokenName, Destination: "bin/" + cmp.Or(destination, file), Layer: variablesLayer,
	}, true, nil
}

// variable returns the value of a variable, and the name in use, with or without the prefix. Both are "" if the
// variable is not set.
func variable(name string) (value, setAs string) {
	for _, setAs := range []string{prefix + name, name} {
		if value := strings.TrimSpace(os.Getenv(setAs)); value != "" {
			return value, setAs
		}
	}
	return "", ""
}
