package harness

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Image is the result of a build.
type Image struct {
	v1.Image
	Ref string // name in Docker, or in the registry of the platform without Docker
	Log string // the build's output
}

// Label returns the value of a label; empty if the image has no such label.
func (i *Image) Label(name string) (string, error) {
	file, err := i.ConfigFile()
	if err != nil {
		return "", fmt.Errorf("reading the configuration of image %q: %w", i.Ref, err)
	}
	return file.Config.Labels[name], nil
}

// Layers returns a buildpack's launch layers, name to diffID, from the lifecycle's metadata (platform spec,
// io.buildpacks.lifecycle.metadata).
func (i *Image) Layers(buildpack string) (map[string]string, error) {
	label, err := i.Label("io.buildpacks.lifecycle.metadata")
	if err != nil {
		return nil, err
	}
	var metadata struct {
		Buildpacks []struct {
			Key    string
			Layers map[string]struct{ SHA string }
		}
	}
	if err := json.Unmarshal([]byte(label), &metadata); err != nil {
		return nil, fmt.Errorf("reading the lifecycle's metadata of image %q: %w", i.Ref, err)
	}
	layers := map[string]string{}
	for _, contributor := range metadata.Buildpacks {
		if contributor.Key == buildpack {
			for name, layer := range contributor.Layers {
				layers[name] = layer.SHA
			}
		}
	}
	return layers, nil
}

// Files returns the absolute names of all files and folders in the image.
func (i *Image) Files() ([]string, error) {
	var names []string
	err := i.each(func(header *tar.Header, _ io.Reader) error {
		names = append(names, path.Join("/", header.Name))
		return nil
	})
	return names, err
}

// ReadFile returns the content of a file in the image. The error for a missing file is os.ErrNotExist.
func (i *Image) ReadFile(name string) ([]byte, error) {
	var content []byte
	found := false
	err := i.each(func(header *tar.Header, r io.Reader) (err error) {
		if path.Join("/", header.Name) == name && header.Typeflag == tar.TypeReg {
			content, err = io.ReadAll(r)
			found = true
		}
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("reading %q of image %q: %w", name, i.Ref, os.ErrNotExist)
	}
	return content, err
}

// Extract writes the image's files into a folder. No file can leave the folder.
func (i *Image) Extract(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return i.each(func(header *tar.Header, r io.Reader) error {
		return extract(root, header, r)
	})
}

// each visits the files of the image's combined layers.
func (i *Image) each(visit func(*tar.Header, io.Reader) error) error {
	stream := mutate.Extract(i.Image)
	defer stream.Close()
	files := tar.NewReader(stream)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the files of image %q: %w", i.Ref, err)
		}
		if err := visit(header, files); err != nil {
			return fmt.Errorf("extracting %q of image %q: %w", header.Name, i.Ref, err)
		}
	}
}

// extract writes a file of a tar stream. The owner may always write to folders, for their removal.
func extract(root *os.Root, header *tar.Header, r io.Reader) error {
	name := strings.Trim(path.Clean(header.Name), "/")
	mode := header.FileInfo().Mode()
	if header.Typeflag == tar.TypeDir {
		if err := root.MkdirAll(name, 0o755); err != nil {
			return err
		}
		return root.Chmod(name, mode.Perm()|0o700|mode&os.ModeSticky)
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, name)
	case tar.TypeReg:
		return withoutForks(func() error {
			file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode.Perm())
			if err != nil {
				return err
			}
			_, err = io.Copy(file, r)
			return errors.Join(err, file.Close())
		})
	}
	return fmt.Errorf("a file of type %q was not expected", header.Typeflag)
}
