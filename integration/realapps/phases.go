package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/BurntSushi/toml"
)

// planName is the build plan entry that the buildpack requires after finding a server.
const planName = "grpc-health-probe"

// entry is an entry of a build plan (buildpack spec, Build Plan).
type entry struct {
	Name     string         `toml:"name"`
	Metadata map[string]any `toml:"metadata"`
}

// detect runs the phase and writes the plan for the phase build.
func (c checker) detect(ctx context.Context, a app, p place) error {
	wanted := filepath.Join(p.folder, "detected.toml")
	if err := os.WriteFile(wanted, nil, 0o600); err != nil {
		return err
	}
	if err := settings(a, p); err != nil {
		return err
	}
	out, err := c.phase(ctx, "detect", a, p, p.source(), "CNB_BUILD_PLAN_PATH="+wanted).CombinedOutput()
	if err != nil {
		return fmt.Errorf("running detect: %w: %s", err, tail(string(out)))
	}
	var plan struct {
		Requires []entry
	}
	if _, err := toml.DecodeFile(wanted, &plan); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	for _, e := range plan.Requires {
		if e.Name == planName {
			return writePlan(p.plan(), e)
		}
	}
	return errors.New("detect finds no gRPC server")
}

func writePlan(file string, e entry) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(toml.NewEncoder(f).Encode(map[string][]entry{"entries": {e}}), f.Close())
}

// settings writes the app's variables to the platform's folder, the phases' source of variables (platform spec).
func settings(a app, p place) error {
	env := filepath.Join(p.platform(), "env")
	err := os.MkdirAll(env, 0o755)
	for _, variable := range a.Env {
		name, value, _ := strings.Cut(variable, "=")
		err = errors.Join(err, os.WriteFile(filepath.Join(env, name), []byte(value), 0o600))
	}
	return err
}

// phase returns the command of a phase for an app's folder (buildpack spec, Buildpack Interface). The app's variables
// are in the command's environment too, as the buildpack does not ask for a clear environment.
func (c checker) phase(ctx context.Context, name string, a app, p place, folder string, env ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.buildpack, "bin", name))
	cmd.Dir = folder
	cmd.Env = append(append(env, a.Env...), "PATH=/usr/bin:/bin", "CNB_BUILDPACK_DIR="+c.buildpack,
		"CNB_PLATFORM_DIR="+p.platform(), "CNB_TARGET_OS=linux", "CNB_TARGET_ARCH="+runtime.GOARCH,
		"CNB_TARGET_DISTRO_NAME=debian", "CNB_TARGET_DISTRO_VERSION=12")
	return cmd
}
