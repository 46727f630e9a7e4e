package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

type place struct{ folder string }

func (p place) stamp() string { return filepath.Join(p.folder, "compiled") }

func (p place) source() string   { return filepath.Join(p.folder, "source") }
func (p place) out() string      { return filepath.Join(p.folder, "out") }
func (p place) layers() string   { return filepath.Join(p.folder, "layers") }
func (p place) platform() string { return filepath.Join(p.folder, "platform") }
func (p place) plan() string     { return filepath.Join(p.folder, "plan.toml") }

// reset makes the folders anew, except the folder of compiled programs.
func (p place) reset() error {
	err := os.MkdirAll(p.out(), 0o755)
	for _, folder := range []string{p.source(), p.layers(), p.platform()} {
		err = errors.Join(err, os.RemoveAll(folder), os.MkdirAll(folder, 0o755))
	}
	return err
}

// stage copies the app's sources into the app's folder, and returns the original folder.
func (c checker) stage(ctx context.Context, a app, p place) (from string, err error) {
	kind, name, _ := strings.Cut(a.Source, ":")
	switch kind {
	case "go":
		from, err = module(ctx, name)
	case "debian":
		from, err = c.debianSource(ctx, name)
	default:
		return "", fmt.Errorf("taking the sources of %q: %q begins with neither go: nor debian: in the table",
			a.Name, a.Source)
	}
	if err != nil {
		return "", err
	}
	// A writable copy: the modules in Go's cache are read-only.
	if _, err = command(ctx, p.folder, nil, "cp", "-r", "--no-preserve=ownership", filepath.Join(from, a.Path)+"/.",
		p.source()); err != nil {
		return "", err
	}
	if _, err = command(ctx, p.folder, nil, "chmod", "-R", "u+w", p.source()); err != nil {
		return "", err
	}
	if a.Procfile == "" {
		return from, nil
	}
	return from, os.WriteFile(filepath.Join(p.source(), "Procfile"), []byte(a.Procfile+"\n"), 0o600)
}

// module returns the folder of a Go module in Go's cache.
func module(ctx context.Context, name string) (string, error) {
	out, err := command(ctx, os.TempDir(), []string{"GOFLAGS="}, "go", "mod", "download", "-json", name)
	if err != nil {
		return "", err
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", fmt.Errorf("reading where the module %q is: %w", name, err)
	}
	return m.Dir, nil
}

// debianSource returns the folder of a source package of Debian, unpacked once. apt verifies the package.
func (c checker) debianSource(ctx context.Context, name string) (string, error) {
	folder := filepath.Join(c.work, "debian", name)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	download := folder + ".download"
	if err := errors.Join(os.RemoveAll(download), os.MkdirAll(download, 0o755)); err != nil {
		return "", err
	}
	if _, err := command(ctx, download, nil, "sh", "-euc", unpackDebian, name); err != nil {
		return "", err
	}
	return folder, os.Rename(filepath.Join(download, "unpacked"), folder)
}

// unpackDebian is a shell script that unpacks a source package as published by the authors, from the machine's own
// package mirrors. The package lists are separate: most machines have no lists of sources.
const unpackDebian = `
mkdir lists unpacked
apt-get indextargets --format 'deb-src $(REPO_URI) $(CODENAME) $(COMPONENT)' \
  'Created-By: Packages' | sort -u > sources.list
own="-o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists"
apt-get $own update
apt-get $own source --download-only --tar-only "$0"
tar -xf ./*.orig.tar.* -C unpacked --strip-components=1`

// compileTime bounds the compilation of an app.
const compileTime = 9 * time.Minute

// compile runs the app's script, unless the same script has run before; from is the folder with all of the app's
// sources.
func compile(ctx context.Context, a app, p place, from string) error {
	ctx, cancel := context.WithTimeout(ctx, compileTime)
	defer cancel()
	env := append([]string{"OUT=" + p.out(), "SOURCE=" + from, "GOWORK=off"}, a.Env...)
	folder, script := p.source(), a.Build
	if name, ok := strings.CutPrefix(a.Source, "go:"); ok && script == "" {
		module, _, _ := strings.Cut(name, "@")
		env, folder, script = append(env, "MODULE="+module, "AT="+name), p.out(), buildModule
	}
	recipe := fmt.Sprintf("%q %q %q", a.Source, script, a.Env)
	if done, err := os.ReadFile(p.stamp()); err == nil && string(done) == recipe {
		return nil
	}
	if err := errors.Join(os.RemoveAll(p.out()), os.Mkdir(p.out(), 0o755)); err != nil {
		return err
	}
	if _, err := command(ctx, folder, env, "sh", "-euc", script); err != nil {
		return err
	}
	return os.WriteFile(p.stamp(), []byte(recipe), 0o600)
}

// buildModule is a shell script that compiles a program of a Go module as published: the local folders of replace
// directives in the module's go.mod are not there.
const buildModule = `
go mod init app
GOFLAGS=-mod=mod go get "$AT"
package=$MODULE/${BP_GO_TARGETS:-}; package=$(echo "$package" | sed "s,/[.]/,/,; s,/*$,,")
CGO_ENABLED=0 GOFLAGS="-mod=mod -p=1" go build -tags "${TAGS:-}" -o server "$package"`

// command runs a program with additional variables, and returns standard output. The error has the last lines.
func command(ctx context.Context, folder string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running %q: %w: %s", append([]string{name}, args...), err,
			tail(string(out)+said.String()))
	}
	return out, nil
}

func tail(text string) string {
	const most = 600
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-most):]
}
