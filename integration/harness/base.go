package harness

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// userID and groupID are whom the lifecycle builds and runs the app as, where nothing else is said.
const userID, groupID = 1000, 1000

// baseEnv is what the platform spec wants in the environment of a build image. From scratch there is no /usr/bin.
func baseEnv(user, group int) []string {
	return []string{"PATH=/cnb/lifecycle:/usr/bin", fmt.Sprintf("CNB_USER_ID=%d", user), fmt.Sprintf("CNB_GROUP_ID=%d", group)}
}

// baseFiles are all there is in the base images from scratch: no shell, no libc, so nothing but static programs can run.
// The empty /dev/null is for the road without Docker, where no device can be made; Docker mounts the real one over it.
var baseFiles = map[string]string{
	"etc/passwd":     "root:x:0:0:root:/root:/none\ncnb:x:1000:1000:cnb:/home/cnb:/none\n",
	"etc/group":      "root:x:0:\ncnb:x:1000:\n",
	"etc/hosts":      "127.0.0.1 localhost\n::1 localhost\n",
	"etc/os-release": "ID=scratch\nVERSION_ID=1\n",
	"dev/null":       "",
}

// addBase lays the files of the base images from scratch out in a folder.
func (k *Kit) addBase() (err error) {
	if k.base, err = k.Stage(baseFiles); err != nil {
		return err
	}
	for name, mode := range map[string]os.FileMode{"tmp": 0o777 | os.ModeSticky, "home/cnb": 0o777} {
		path := filepath.Join(k.base, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
	}
	return nil
}

// base is what base images differ in.
type base struct {
	arch        string
	layers      []v1.Layer
	env         []string
	labels      map[string]string
	user, group int
}

// scratch is the base of a few files.
func (k *Kit) scratch() (base, error) {
	layer, err := folderLayer(k.base)
	return base{layers: []v1.Layer{layer}, labels: distroLabels("scratch", "1"), user: userID, group: groupID}, err
}

// distroLabels say what the image's distribution is (platform spec, Target data).
func distroLabels(name, version string) map[string]string {
	return map[string]string{
		"io.buildpacks.base.distro.name":    name,
		"io.buildpacks.base.distro.version": version,
	}
}

// folderLayer makes a layer of the files in a folder.
func folderLayer(folder string) (v1.Layer, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return archive(folder), nil })
	if err != nil {
		return nil, fmt.Errorf("making a layer of %q: %w", folder, err)
	}
	return layer, nil
}

// filesLayer makes a layer of files (name to content).
func (k *Kit) filesLayer(files map[string]string) (v1.Layer, error) {
	folder, err := k.Stage(files)
	if err != nil {
		return nil, err
	}
	return folderLayer(folder)
}

// image makes the image. Its user is the one that the platform spec asks of build and run images.
func (b base) image() (v1.Image, error) {
	image, err := mutate.AppendLayers(empty.Image, b.layers...)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", b.arch
	file.Config.User = fmt.Sprintf("%d:%d", b.user, b.group)
	file.Config.Env = append(baseEnv(b.user, b.group), b.env...)
	file.Config.Labels = b.labels
	return mutate.ConfigFile(image, file)
}

// ProgramImage makes an image of nothing but the static program of a folder of the repository, which it starts.
func (k *Kit) ProgramImage(ctx context.Context, source string) (v1.Image, error) {
	folder, err := k.tempFolder("program")
	if err != nil {
		return nil, err
	}
	program := filepath.Join(folder, "program")
	if _, err := run(k.goCommand(ctx, source, "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")); err != nil {
		return nil, err
	}
	layer, err := folderLayer(folder)
	if err != nil {
		return nil, err
	}
	image, err := base{arch: runtime.GOARCH, layers: []v1.Layer{layer}}.image()
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config := file.Config
	config.Entrypoint = []string{"/program"}
	return mutate.Config(image, config)
}

// archive streams the folder as a tar file.
func archive(folder string) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() {
		files := tar.NewWriter(writer)
		err := files.AddFS(os.DirFS(folder))
		if err == nil {
			err = files.Close()
		}
		writer.CloseWithError(err)
	}()
	return reader
}

// archiveFile writes the folder as a compressed tar file.
func archiveFile(path, folder string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	files := archive(folder)
	defer files.Close()
	packed := gzip.NewWriter(file)
	_, err = io.Copy(packed, files)
	return errors.Join(err, packed.Close(), file.Close())
}
