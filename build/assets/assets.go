// Package assets reads which GitHub release assets an app wants in its image, as github-assets-cnb reads it: from
// [[metadata.githubassets]] in project.toml and from build variables. Begin with Read; the build plan carries what it
// found from detection to the build, because other buildpacks may remove the file in between.
package assets

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/detect/apptoml"
)

const (
	// PlanEntry is the name of the build plan's entries, one for each asset.
	PlanEntry = "github-assets"
	// VariablesLayer is the name of the layer for the asset that build variables name.
	VariablesLayer = "github-assets"
	// PathEnv is the build variable that names another file than project.toml, below the app's folder. Default: none.
	// Example: GITHUB_ASSETS_PATH=deploy/assets.toml
	PathEnv = "GITHUB_ASSETS_PATH"

	projectFile = "project.toml"
	maxFile     = 1 << 20 // bytes
)

// The build variables that name one asset; each may also be written with the prefix alone, BP_GITHUB_ASSET_REPO. RepoEnv
// and FileEnv are needed. Defaults: TargetEnv, the value of FileEnv; VersionEnv, latest; TokenEnv and SHA256Env, none.
// Example: REPO=stedolan/jq FILE=jq-linux64 TARGET=jq VERSION=jq-1.6
const (
	RepoEnv    = "REPO"
	FileEnv    = "FILE"
	TargetEnv  = "TARGET"
	VersionEnv = "VERSION"
	TokenEnv   = "TOKEN"
	// SHA256Env has no older form.
	SHA256Env = "BP_GITHUB_ASSET_SHA256"

	prefix = "BP_GITHUB_ASSET_"
)

// Entry is one asset.
type Entry struct {
	// Repo is owner/name; Asset the file, in which {os} and {arch} stand for the target's; Tag a release's tag or latest.
	Repo  string `toml:"repo"`
	Asset string `toml:"asset"`
	Tag   string `toml:"tag"`
	// TokenEnv is the environment variable with the token for the repository, if it has one of its own.
	TokenEnv string `toml:"token_env"`
	// Destination is where it goes in the layer: the folder for what is in an archive, the name for a file.
	Destination string `toml:"destination"`
	// StripComponents is how many parts of the names in an archive are left off.
	StripComponents int `toml:"strip_components"`
	// SHA256 is the digest it must have, or "" to take what the release says.
	SHA256 string `toml:"sha256"`
	// Layer is the name of the layer.
	Layer string `toml:"layer"`
}

// Read returns the assets that the app in dir wants.
func Read(dir string) ([]Entry, error) {
	entries, err := readFile(dir)
	if err != nil {
		return nil, err
	}
	for i, entry := range entries {
		// What the buildpack names otherwise is none of the file's business.
		entries[i].Layer = layerOf(entry.Repo)
		// A destination is within the layer, whichever way it is written.
		entries[i].Destination = strings.TrimLeft(entry.Destination, "/")
	}
	if entry, ok := readVariables(); ok {
		entries = append(entries, entry)
	}
	for _, entry := range entries {
		if err := entry.check(); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// layerOf is the name of the layer for the assets of a repository.
func layerOf(repo string) string { return strings.Replace(repo, "/", "_", 1) }

func readFile(dir string) ([]Entry, error) {
	name, chosen := os.LookupEnv(PathEnv)
	name = strings.TrimLeft(name, "/") // it is within the app, whichever way it is written
	if name == "" {
		name, chosen = projectFile, false
	}
	text, err := readBounded(dir, name)
	if err != nil {
		if chosen {
			return nil, fmt.Errorf("reading $%s: %w", PathEnv, err)
		}
		return nil, nil // no file, or none that is meant for buildpacks
	}
	if !chosen && !bytes.Contains(text, []byte("githubassets")) {
		return nil, nil
	}
	var project struct {
		Metadata struct {
			Assets []Entry `toml:"githubassets"`
		} `toml:"metadata"`
		// Version 0.2 of the file has its metadata here.
		Underscore struct {
			Metadata struct {
				Assets []Entry `toml:"githubassets"`
			} `toml:"metadata"`
		} `toml:"_"`
	}
	if err := apptoml.Decode(text, &project); err != nil {
		return nil, fmt.Errorf("reading the GitHub assets in %s: %w", name, err)
	}
	return append(project.Metadata.Assets, project.Underscore.Metadata.Assets...), nil
}

// readBounded reads a file of the app, which a link may not lead out of.
func readBounded(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%q is no file of 1 MiB or less", name)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile))
}

func readVariables() (Entry, bool) {
	repo, _ := variable(RepoEnv)
	file, _ := variable(FileEnv)
	if repo == "" || file == "" {
		return Entry{}, false
	}
	target, _ := variable(TargetEnv)
	tag, _ := variable(VersionEnv)
	_, tokenEnv := variable(TokenEnv)
	return Entry{Repo: repo, Asset: file, Tag: tag, TokenEnv: tokenEnv, Destination: "bin/" + cmp.Or(target, file),
		SHA256: strings.TrimSpace(os.Getenv(SHA256Env)), Layer: VariablesLayer}, true
}

// variable returns the value of a variable, and the name by which it is set; "" for both where it is not.
func variable(name string) (value, by string) {
	for _, by := range []string{prefix + name, name} {
		if value := strings.TrimSpace(os.Getenv(by)); value != "" {
			return value, by
		}
	}
	return "", ""
}

// tokenForm is what GitHub's tokens look like: one must not get into the plan and the log by a slip.
var tokenForm = regexp.MustCompile(`^(gh[a-z]_\w{30,}|github_pat_\w{30,}|[0-9a-f]{40})$`)

func (e *Entry) check() error {
	switch {
	case e.Repo == "" || e.Asset == "":
		return fmt.Errorf("reading the GitHub assets: one has repo %q and asset %q: it needs both", e.Repo, e.Asset)
	case tokenForm.MatchString(e.TokenEnv):
		return fmt.Errorf("reading the GitHub asset %q of %s: token_env holds a token: it must be the name of an environment variable that does", e.Asset, e.Repo)
	case e.StripComponents < 0:
		return fmt.Errorf("reading the GitHub asset %q of %s: strip_components is %d", e.Asset, e.Repo, e.StripComponents)
	}
	return nil
}

// Metadata is the entry for the build plan. No secret is in it.
func (e Entry) Metadata() (map[string]any, error) {
	text, err := toml.Marshal(e)
	if err != nil {
		return nil, err
	}
	metadata := map[string]any{}
	return metadata, toml.Unmarshal(text, &metadata)
}

// FromPlan returns the entries of the build plan.
func FromPlan(plan libcnb.BuildpackPlan) ([]Entry, error) {
	var entries []Entry
	for _, planned := range plan.Entries {
		if planned.Name != PlanEntry {
			continue
		}
		text, err := toml.Marshal(planned.Metadata)
		if err != nil {
			return nil, fmt.Errorf("reading the plan entry %q: %w", PlanEntry, err)
		}
		var entry Entry
		if err := toml.Unmarshal(text, &entry); err != nil {
			return nil, fmt.Errorf("reading the plan entry %q: %w", PlanEntry, err)
		}
		if err := entry.check(); err != nil {
			return nil, err
		}
		if entry.Layer != VariablesLayer {
			entry.Layer = layerOf(entry.Repo)
		}
		entries = append(entries, entry)
	}
	return entries, nil
}
