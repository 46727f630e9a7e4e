package harness

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// debianPackages are the distribution's packages to build and run the apps in integration/apps.
var debianPackages = []string{
	"make", "protobuf-compiler-grpc", "grpc-proto",
	"g++", "libgrpc++-dev", "libprotobuf-dev",
	"python3-grpcio", "python3-protobuf",
	"ruby-grpc",
	"default-jdk-headless", "kotlin", "protobuf-compiler-grpc-java-plugin", "libgrpc-java",
	"libgeronimo-annotation-1.3-spec-java", "libguava-java", "libnetty-java", "libperfmark-java", "libprotobuf-java",
}

// debianLeftOut are files that no app reads, a third of the Debian.
var debianLeftOut = []string{
	"./dev/*", "./var/cache/*", "./var/lib/apt/*",
	"./usr/share/doc/*", "./usr/share/info/*", "./usr/share/locale/*", "./usr/share/man/*",
}

// DebianNeeds returns what this machine lacks to make a Debian; nil for nothing.
func DebianNeeds() error {
	_, err := exec.LookPath("debootstrap")
	switch {
	case err != nil:
		return errors.New("debootstrap")
	case os.Geteuid() != 0:
		return errors.New("root, for debootstrap")
	}
	release, err := osRelease()
	if err == nil && release["ID"] != "debian" {
		err = errors.New("Debian on this machine, whose release and mirror are taken")
	}
	return err
}

// Debian returns a Docker platform with a Debian as build and run image, of this machine's release and from the
// machine's mirror. Of built images, only the configuration can be read: a copy of a Debian out of the engine for each
// image takes too long.
func (k *Fixture) Debian(ctx context.Context, optional ...string) (*Docker, error) {
	release, err := osRelease()
	if err != nil {
		return nil, err
	}
	path, err := k.debianArchive(ctx, release)
	if err != nil {
		return nil, err
	}
	defer k.Step("putting Debian into Docker")()
	layer, err := tarball.LayerFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("making a layer of %q: %w", path, err)
	}
	debian := base{
		layers: []v1.Layer{layer}, labels: distroLabels("debian", release["VERSION_ID"]), user: userID, group: groupID,
	}
	d, err := k.docker(ctx, debian, k.lifecycle, optional)
	if err == nil {
		d.partial = true
	}
	return d, err
}

// MakeDebian makes the archive of Fixture.Debian for the repository at repo, and writes progress to out. An archive of
// an earlier run is kept.
func MakeDebian(ctx context.Context, repo string, out io.Writer) error {
	repo, err := filepath.Abs(repo)
	if err != nil {
		return err
	}
	release, err := osRelease()
	if err != nil {
		return err
	}
	_, err = (&Fixture{repo: repo, out: out}).debianArchive(ctx, release)
	return err
}

// osRelease returns the fields of this machine's /etc/os-release.
func osRelease() (map[string]string, error) {
	file, err := os.Open("/etc/os-release")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	values := map[string]string{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "=")
		values[name] = strings.Trim(value, `"'`)
	}
	return values, lines.Err()
}

// debianArchive returns a compressed tar file of the Debian, made now or by an earlier run. Only the latest file is
// kept, since each has half a gigabyte.
func (k *Fixture) debianArchive(ctx context.Context, distribution map[string]string) (string, error) {
	release := distribution["VERSION_CODENAME"]
	folder := k.Dist("tools/debian")
	key := sha256.Sum256(fmt.Append(nil, release, runtime.GOARCH, debianPackages, debianLeftOut))
	path := filepath.Join(folder, fmt.Sprintf("%x.tgz", key[:8]))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	defer k.Step("making a Debian %s with gRPC's packages (once; two minutes or more)", release)()
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return "", err
	}
	// The folder for temporary files may not allow debootstrap's device files.
	root := filepath.Join(folder, "root")
	defer os.RemoveAll(root)
	if err := bootstrap(ctx, release, root); err != nil {
		return "", err
	}
	if err := addUser(root); err != nil {
		return "", err
	}
	args := []string{"--create", "--use-compress-program=gzip -1", "--numeric-owner", "--directory", root}
	for _, pattern := range debianLeftOut {
		args = append(args, "--exclude", pattern)
	}
	fresh := path + ".new"
	if _, err := run(exec.CommandContext(ctx, "tar", append(args, "--file", fresh, ".")...)); err != nil {
		return "", err
	}
	return path, os.Rename(fresh, path)
}

// bootstrap makes the Debian in a separate mount namespace, so that no mount outlives bootstrap.
func bootstrap(ctx context.Context, release, root string) error {
	mirrors, err := run(exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(REPO_URI)",
		"Created-By: Packages", "Origin: Debian", "Component: main", "Codename: "+release))
	if err != nil {
		return err
	}
	args := []string{
		"--mount", "debootstrap", "--variant=minbase", "--include=" + strings.Join(debianPackages, ","),
		release, root,
	}
	if known := strings.Fields(mirrors); len(known) > 0 { // debootstrap has a default
		args = append(args, known[0])
	}
	_, err = run(exec.CommandContext(ctx, "unshare", args...))
	return err
}

// addUser gives the user of build and app a name and a home.
func addUser(root string) error {
	for name, line := range map[string]string{
		"etc/passwd": fmt.Sprintf("cnb:x:%d:%d:cnb:/home/cnb:/bin/sh\n", userID, groupID),
		"etc/group":  fmt.Sprintf("cnb:x:%d:\n", groupID),
	} {
		file, err := os.OpenFile(filepath.Join(root, name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.WriteString(line)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	home := filepath.Join(root, "home/cnb")
	return errors.Join(os.Mkdir(home, 0o755), os.Chown(home, userID, groupID))
}
