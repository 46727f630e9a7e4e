package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// phases is the platform without Docker. The lifecycle's phases run as plain programs in a jail and export to a
// registry in this process; the files of the exported image run in another jail.
type phases struct {
	fixture  *Fixture
	registry *Registry
	runImage string
	optional []string
}

// Phases returns the platform without Docker, for images of an architecture (amd64, arm64) that may differ from this
// machine's. Each build uses the app buildpack, then the optional buildpacks (folders), then Build.Buildpack. The
// platform needs root, or a kernel that lets users make user namespaces.
func (k *Fixture) Phases(arch string, optional ...string) (Platform, error) {
	registry, err := NewRegistry()
	if err != nil {
		return nil, err
	}
	p := &phases{fixture: k, registry: registry, optional: optional}
	if err := p.pushRunImage(arch); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *phases) pushRunImage(arch string) error {
	base, err := p.fixture.scratch()
	if err != nil {
		return err
	}
	base.arch = arch
	image, err := base.image()
	if err != nil {
		return err
	}
	p.runImage, err = p.registry.Push("run", image)
	return err
}

// Build runs the phases in order (platform spec, Build).
func (p *phases) Build(ctx context.Context, b Build) (*Image, error) {
	root, err := p.fixture.buildRoot(b, p.optional)
	if err != nil {
		return nil, err
	}
	ref := p.registry.Name(b.Name)
	common := []string{"-no-color", "-layers=/layers"}
	users := []string{fmt.Sprintf("-uid=%d", userID), fmt.Sprintf("-gid=%d", groupID)}
	phases := []struct {
		name string
		args []string
	}{
		{"analyzer", append(users, "-run-image="+p.runImage, ref)},
		{"detector", []string{"-app=/workspace", "-platform=/platform", "-order=/cnb/order.toml"}},
		{"restorer", users},
		{"builder", []string{"-app=/workspace", "-platform=/platform"}},
		{"exporter", append(users, "-app=/workspace", "-launcher=/cnb/lifecycle/launcher", ref)},
	}
	var out bytes.Buffer
	for _, phase := range phases {
		fmt.Fprintf(tee(&out, b.Log), "===> %s\n", phase.name)
		args := append(append([]string{"/cnb/lifecycle/" + phase.name}, common...), phase.args...)
		cmd := root.command(ctx, append(baseEnv(userID, groupID), "CNB_PLATFORM_API=0.14", "HOME=/home/cnb"), "/",
			args...)
		cmd.Stdout = tee(&out, b.Log)
		cmd.Stderr = cmd.Stdout
		if err := cmd.Run(); err != nil {
			return nil, &BuildError{Phase: phase.name, Log: out.String(), Err: explain(err)}
		}
	}
	return p.registry.Pull(ref, out.String())
}

// buildRoot makes the root folder of a build: base files, lifecycle, buildpacks (app buildpack, optional buildpacks,
// b.Buildpack), app and variables.
func (k *Fixture) buildRoot(b Build, optional []string) (jail, error) {
	root, err := k.tempFolder("build")
	if err != nil {
		return "", err
	}
	folders := map[string]string{
		"":              k.base,
		"cnb/lifecycle": filepath.Join(k.lifecycle, "lifecycle"),
		"workspace":     b.App,
	}
	var group order
	err = group.add(k.procfile, false)
	for _, folder := range optional {
		err = errors.Join(err, group.add(folder, true))
	}
	if b.Buildpack != "" {
		err = errors.Join(err, group.add(b.Buildpack, false))
	}
	if err != nil {
		return "", err
	}
	for _, member := range group {
		folders[filepath.Join("cnb/buildpacks", strings.ReplaceAll(member.id, "/", "_"),
			member.version)] = member.folder
	}
	for to, from := range folders {
		if err := copyFolder(filepath.Join(root, to), from); err != nil {
			return "", fmt.Errorf("copying %q into the build's root: %w", from, err)
		}
	}
	return jail(root), errors.Join(
		os.WriteFile(filepath.Join(root, "cnb/order.toml"), []byte(group.toml()), 0o644),
		os.Mkdir(filepath.Join(root, "layers"), 0o755),
		writeEnv(filepath.Join(root, "platform/env"), b.Env),
		jail(root).own(),
	)
}

// writeEnv writes the build's variables (platform spec, User-Provided Variables).
func writeEnv(folder string, env []string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, pair := range env {
		key, value, _ := strings.Cut(pair, "=")
		if err := os.WriteFile(filepath.Join(folder, key), []byte(value), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Run starts the default process of the image's files in a jail, on free ports of loopback.
func (p *phases) Run(ctx context.Context, image *Image, args ...string) (*Server, error) {
	folder, err := p.fixture.tempFolder("run")
	if err != nil {
		return nil, err
	}
	root := jail(folder)
	if err := errors.Join(image.Extract(folder), root.own()); err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config := file.Config
	command := func(ctx context.Context, args ...string) *exec.Cmd {
		return root.command(ctx, config.Env, config.WorkingDir, args...)
	}
	args = append([]string{"-grpc=127.0.0.1:0", "-http=127.0.0.1:0"}, args...)
	cmd := command(ctx, append(config.Entrypoint, args...)...)
	at, wait, err := startServer(cmd)
	if err != nil {
		return nil, err
	}
	return &Server{GRPC: at.GRPC, http: at.HTTP, command: command, stop: func() error {
		err := cmd.Process.Kill()
		if errors.Is(err, os.ErrProcessDone) {
			return nil
		}
		_ = wait() // fails because the process was killed
		return err
	}}, nil
}

// Close ends the registry.
func (p *phases) Close() error {
	return p.registry.Close()
}
