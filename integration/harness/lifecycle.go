package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// lifecycle is a lifecycle of the tests.
type lifecycle struct {
	program, launcher string // names in tools
	buildpack         string // the supported Buildpack APIs, in the format of lifecycle.toml
	platform          string // the supported Platform APIs
}

var (
	newestLifecycle = lifecycle{
		"lifecycle", "launcher",
		`"0.7", "0.8", "0.9", "0.10", "0.11"`,
		`"0.7", "0.8", "0.9", "0.10", "0.11", "0.12", "0.13", "0.14", "0.15"`,
	}
	// oldestLifecycle is the first release with Buildpack API 0.10, the API of the product.
	oldestLifecycle = lifecycle{
		"oldest lifecycle", "oldest launcher",
		`"0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.10"`,
		`"0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.10", "0.11", "0.12"`,
	}
)

// lifecycleTOML describes the lifecycle to pack (platform spec, lifecycle.toml), with APIs and version to fill in.
const lifecycleTOML = `[apis.buildpack]
supported = [%s]
[apis.platform]
supported = [%s]
[lifecycle]
version = %q
`

// addLifecycle adds the default lifecycle of all platforms.
func (k *Fixture) addLifecycle(ctx context.Context) (err error) {
	k.lifecycle, err = k.layLifecycle(ctx, newestLifecycle)
	return err
}

// layLifecycle writes a lifecycle into a folder in the layout of the release archive, with a link to the program for
// each phase, and returns the folder.
func (k *Fixture) layLifecycle(ctx context.Context, l lifecycle) (string, error) {
	folder, err := k.tempFolder("lifecycle")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(folder, "lifecycle")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return "", err
	}
	for name, tool := range map[string]string{"lifecycle": l.program, "launcher": l.launcher} {
		path, err := k.Tool(ctx, tool)
		if err != nil {
			return "", err
		}
		if err := copyFile(filepath.Join(bin, name), path); err != nil {
			return "", err
		}
	}
	for _, phase := range []string{
		"analyzer", "builder", "creator", "detector", "exporter", "extender", "rebaser",
		"restorer",
	} {
		if err := os.Symlink("lifecycle", filepath.Join(bin, phase)); err != nil {
			return "", err
		}
	}
	version, err := k.version(ctx, l.program)
	if err != nil {
		return "", err
	}
	descriptor := fmt.Sprintf(lifecycleTOML, l.buildpack, l.platform, version)
	return folder, os.WriteFile(filepath.Join(folder, "lifecycle.toml"), []byte(descriptor), 0o644)
}

func (k *Fixture) addProcfile(ctx context.Context) (err error) {
	k.procfile, err = k.TestBuildpack(ctx, "procfile")
	return err
}

// TestBuildpack compiles a buildpack of the tests from integration/NAME, and returns the new folder. The folder lives
// as long as the Fixture.
func (k *Fixture) TestBuildpack(ctx context.Context, name string) (string, error) {
	source, folder := "integration/"+name, filepath.Join(k.temp, name)
	bin := filepath.Join(folder, "bin")
	if err := k.compile(ctx, source, filepath.Join(bin, "build")); err != nil {
		return "", err
	}
	if err := os.Symlink("build", filepath.Join(bin, "detect")); err != nil {
		return "", err
	}
	return folder, copyFile(filepath.Join(folder, "buildpack.toml"), filepath.Join(k.repo, source, "buildpack.toml"))
}

// StandIn copies the app buildpack of the tests under the ID and version of another buildpack, and returns the new
// folder. The folder lives as long as the Fixture.
func (k *Fixture) StandIn(id, version string) (string, error) {
	folder, err := k.tempFolder("stand-in")
	if err != nil {
		return "", err
	}
	if err := copyFolder(folder, k.procfile); err != nil {
		return "", err
	}
	descriptor := fmt.Sprintf(standInTOML, id, version)
	return folder, os.WriteFile(filepath.Join(folder, "buildpack.toml"), []byte(descriptor), 0o644)
}

// standInTOML describes a buildpack (buildpack spec, buildpack.toml), with ID and version to fill in.
const standInTOML = `api = "0.10"
[buildpack]
id = %q
version = %q
[[targets]]
os = "linux"
`

// copyFolder copies a folder's files with their permissions.
func copyFolder(to, from string) error {
	return withoutForks(func() error {
		return os.CopyFS(to, os.DirFS(from))
	})
}

// withoutForks keeps this process from starting others while a function writes programs. A process that starts has this
// process's open files until its exec, and the kernel executes no file that is open for writing (ETXTBSY,
// golang/go#22315).
func withoutForks(write func() error) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return write()
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
	return withoutForks(func() error {
		target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, info.Mode().Perm())
		if err != nil {
			return err
		}
		_, err = io.Copy(target, source)
		return errors.Join(err, target.Close())
	})
}
