package harness

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// lifecycleTOML describes the lifecycle to pack (platform spec, lifecycle.toml), with the version to fill in.
const lifecycleTOML = `[apis.buildpack]
supported = ["0.7", "0.8", "0.9", "0.10", "0.11"]
[apis.platform]
supported = ["0.7", "0.8", "0.9", "0.10", "0.11", "0.12", "0.13", "0.14"]
[lifecycle]
version = %q
`

// addLifecycle lays the lifecycle out as its release archive has it: one program under the name of each phase.
func (k *Kit) addLifecycle(ctx context.Context) error {
	k.lifecycle = filepath.Join(k.temp, "lifecycle")
	bin := filepath.Join(k.lifecycle, "lifecycle")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"lifecycle", "launcher"} {
		path, err := k.tool(ctx, name)
		if err != nil {
			return err
		}
		if err := copyFile(filepath.Join(bin, name), path); err != nil {
			return err
		}
	}
	for _, phase := range []string{"analyzer", "builder", "creator", "detector", "exporter", "extender", "rebaser", "restorer"} {
		if err := os.Symlink("lifecycle", filepath.Join(bin, phase)); err != nil {
			return err
		}
	}
	version, err := k.version(ctx, "lifecycle")
	if err != nil {
		return err
	}
	descriptor := fmt.Sprintf(lifecycleTOML, version)
	return os.WriteFile(filepath.Join(k.lifecycle, "lifecycle.toml"), []byte(descriptor), 0o644)
}

// addProcfile compiles the app buildpack of the tests.
func (k *Kit) addProcfile(ctx context.Context) (err error) {
	k.procfile, err = k.TestBuildpack(ctx, "procfile")
	return err
}

// TestBuildpack compiles a buildpack of the tests, a folder in integration/, and returns where. It lives as long as the Kit.
func (k *Kit) TestBuildpack(ctx context.Context, name string) (string, error) {
	source, folder := "integration/"+name, filepath.Join(k.temp, name)
	bin := filepath.Join(folder, "bin")
	if _, err := run(k.goCommand(ctx, source, "build", "-o", filepath.Join(bin, "build"), ".")); err != nil {
		return "", err
	}
	if err := os.Symlink("build", filepath.Join(bin, "detect")); err != nil {
		return "", err
	}
	return folder, copyFile(filepath.Join(folder, "buildpack.toml"), filepath.Join(k.repo, source, "buildpack.toml"))
}

// copyFile copies a file with its permissions.
func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}
