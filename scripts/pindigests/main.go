// Command pindigests writes the digests of the default release, for each target, to the end of a given buildpack.toml,
// as [[metadata.pins]]. The defaults of the build variables in the same file name the release. The program downloads
// the release's files, verifies the digests that the release states, and checks that the files are programs for their
// targets. A token in the variable BP_GITHUB_TOKEN is optional.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/build/executable"
	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/descriptor"
)

// begin is the line before the text that this program writes.
const begin = "# The digests of the default release, which scripts/pindigests writes. This is the end of the file."

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pindigests BUILDPACK.TOML")
		os.Exit(2)
	}
	if err := pin(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// pin writes the pins into a file. After an error the file is unchanged.
func pin(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, _, found := strings.Cut(string(text), begin)
	if !found {
		return fmt.Errorf("reading %q: it has no line %q", file, begin)
	}
	// The old pins must not decide the new pins.
	var content struct {
		Targets  []libcnb.TargetInfo `toml:"targets"`
		Metadata map[string]any      `toml:"metadata"`
	}
	if _, err := toml.Decode(head, &content); err != nil {
		return fmt.Errorf("reading %q: %w", file, err)
	}
	defaults, err := descriptor.Defaults(content.Metadata)
	if err != nil {
		return err
	}
	settings := config.Read(defaults)
	if err := settings.Err(); err != nil {
		return err
	}
	if len(content.Targets) == 0 {
		return errors.New("there is no target to pin a digest for")
	}
	pins := strings.Builder{}
	for _, target := range content.Targets {
		pin, err := verify(settings, target)
		if err != nil {
			return err
		}
		fmt.Fprintf(&pins, "\n[[metadata.pins]]\nrepo = %q\ntag = %q\nasset = %q\nsha256 = %q\n",
			pin.Repo, pin.Tag, pin.Asset, pin.SHA256)
	}
	text = []byte(head + begin + "\n" + pins.String())
	return os.WriteFile(file, text, 0o644)
}

// verify downloads the release's file for a target and returns its pin.
func verify(settings config.Config, target libcnb.TargetInfo) (github.Pin, error) {
	request := github.Request{
		Repo: settings.Repo, Asset: settings.Asset, Tag: settings.Version, SHA256Setting: "the digest by hand",
	}.ForTarget(target)
	if request.Tag == github.Latest {
		return github.Pin{}, errors.New("the default release is the latest, which cannot be pinned")
	}
	client, err := newClient()
	if err != nil {
		return github.Pin{}, err
	}
	asset, err := client.Resolve(context.Background(), request)
	if err != nil {
		return github.Pin{}, err
	}
	dir, err := os.MkdirTemp("", "pin-digests")
	if err != nil {
		return github.Pin{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "asset")
	if err := client.Download(context.Background(), request, asset, file); err != nil {
		return github.Pin{}, err
	}
	if _, err := executable.Check(file, executable.Platform{OS: target.OS, Arch: target.Arch}); err != nil {
		return github.Pin{}, fmt.Errorf("checking %s: %w", asset, err)
	}
	fmt.Fprintln(os.Stdout, asset.Verified(""))
	return github.Pin{Repo: asset.Repo, Tag: asset.Tag, Asset: asset.Asset, SHA256: asset.SHA256}, nil
}

func newClient() (*github.Client, error) {
	api, err := github.ParseAPI(github.DefaultAPI)
	if err != nil {
		return nil, err
	}
	token := github.Token{From: "$" + config.GitHubTokenEnv, Value: strings.TrimSpace(os.Getenv(config.GitHubTokenEnv))}
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }
	return github.New(github.Host{API: api, Token: token, UserAgent: "grpc-cnb-pin-digests", Logf: logf})
}
