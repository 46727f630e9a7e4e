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
	"strconv"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// userID and groupID are the user of build and app, unless a base image has another user.
const userID, groupID = 1000, 1000

// baseEnv is the environment of a build image (platform spec). An image from scratch has no /usr/bin.
func baseEnv(user, group int) []string {
	return []string{
		"PATH=/cnb/lifecycle:/usr/bin", fmt.Sprintf("CNB_USER_ID=%d", user),
		fmt.Sprintf("CNB_GROUP_ID=%d", group),
	}
}

// baseFiles are all files of the base images from scratch. Without a shell and a libc, only static programs run. The
// empty /dev/null is for the platform without Docker, which cannot make devices; Docker mounts the real device there.
var baseFiles = map[string]string{
	"etc/passwd":     "root:x:0:0:root:/root:/none\ncnb:x:1000:1000:cnb:/home/cnb:/none\n",
	"etc/group":      "root:x:0:\ncnb:x:1000:\n",
	"etc/hosts":      "127.0.0.1 localhost\n::1 localhost\n",
	"etc/os-release": "ID=scratch\nVERSION_ID=1\n",
	"dev/null":       "",
}

func (k *Fixture) addBase() (err error) {
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

// base has the differences between base images.
type base struct {
	arch        string
	layers      []v1.Layer
	env         []string
	labels      map[string]string
	user, group int
}

// scratch returns the base with baseFiles alone.
func (k *Fixture) scratch() (base, error) {
	layer, err := folderLayer(k.base)
	return base{layers: []v1.Layer{layer}, labels: distroLabels("scratch", "1"), user: userID, group: groupID}, err
}

// distroLabels name an image's distribution (platform spec, Target data).
func distroLabels(name, version string) map[string]string {
	return map[string]string{
		"io.buildpacks.base.distro.name":    name,
		"io.buildpacks.base.distro.version": version,
	}
}

func folderLayer(folder string) (v1.Layer, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return archive(folder), nil })
	if err != nil {
		return nil, fmt.Errorf("making a layer of %q: %w", folder, err)
	}
	return layer, nil
}

// filesLayer makes a layer of files (name to content).
func (k *Fixture) filesLayer(files map[string]string) (v1.Layer, error) {
	folder, err := k.Stage(files)
	if err != nil {
		return nil, err
	}
	return folderLayer(folder)
}

// image makes the image, with the user of build and run images (platform spec).
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

// ProgramImage compiles a program from a folder of the repository, and makes an image that contains the static program
// alone and starts the program.
func (k *Fixture) ProgramImage(ctx context.Context, source string) (v1.Image, error) {
	folder, err := k.tempFolder("program")
	if err != nil {
		return nil, err
	}
	program := filepath.Join(folder, "program")
	if _, err := run(k.goCommand(ctx, source, "build", "-ldflags=-s -w", "-o", program, ".")); err != nil {
		return nil, err
	}
	return startedImage(folder, "/program", 0)
}

// ToolImage makes an image that contains only a tool at a path and a folder for temporary files. The image starts the
// tool as a user other than root.
func (k *Fixture) ToolImage(ctx context.Context, name, path string) (v1.Image, error) {
	program, err := k.Tool(ctx, name)
	if err != nil {
		return nil, err
	}
	folder, err := k.tempFolder("tool")
	if err != nil {
		return nil, err
	}
	to := filepath.Join(folder, path)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return nil, err
	}
	if err := copyFile(to, program); err != nil {
		return nil, err
	}
	temp := filepath.Join(folder, "tmp")
	if err := errors.Join(os.Mkdir(temp, 0o755), os.Chmod(temp, 0o777|os.ModeSticky)); err != nil {
		return nil, err
	}
	return startedImage(folder, path, userID)
}

// startedImage makes an image that contains only the files of a folder and starts a program of the folder as a user.
func startedImage(folder, program string, user int) (v1.Image, error) {
	image, err := FolderImage(folder)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config := file.Config
	config.Entrypoint = []string{program}
	config.User = strconv.Itoa(user)
	return mutate.Config(image, config)
}

// FolderImage makes an image that contains only the files of a folder.
func FolderImage(folder string) (v1.Image, error) {
	layer, err := folderLayer(folder)
	if err != nil {
		return nil, err
	}
	return base{arch: runtime.GOARCH, layers: []v1.Layer{layer}}.image()
}

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

// archiveFile writes a folder as a compressed tar file.
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
