package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

// readPackage reads the images of a file from `pack buildpack package`: an OCI image layout in a tar file (distribution
// spec, Buildpackage). The images are read from a folder in temp until the push.
func readPackage(temp, file string) ([]platformImage, error) {
	folder, err := os.MkdirTemp(temp, "package-")
	if err != nil {
		return nil, err
	}
	if err := unpack(folder, file); err != nil {
		return nil, fmt.Errorf("unpacking %q: %w", file, err)
	}
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", file, err)
	}
	found, err := partial.FindImages(index, func(v1.Descriptor) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", file, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("reading %q: it has no image", file)
	}
	var images []platformImage
	for _, image := range found {
		made, err := buildpackImage(image)
		if err != nil {
			return nil, fmt.Errorf("reading %q: %w", file, err)
		}
		images = append(images, made)
	}
	return images, nil
}

// buildpackImage converts an image of pack for publication: pack uses the formats of Docker, without a date.
func buildpackImage(image v1.Image) (platformImage, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return platformImage{}, err
	}
	layers, err := image.Layers()
	if err != nil {
		return platformImage{}, err
	}
	if len(layers) != 1 {
		return platformImage{}, fmt.Errorf("reading the layers: there are %d, and a buildpack has one", len(layers))
	}
	return newImage(layers[0], config.Config, v1.Platform{
		OS: config.OS, Architecture: config.Architecture, Variant: config.Variant,
	})
}

// unpack writes the files of a tar file into a folder, and nothing outside.
func unpack(folder, file string) error {
	source, err := os.Open(file)
	if err != nil {
		return err
	}
	defer source.Close()
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	entries := tar.NewReader(source)
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue // folders: they are made if a file needs them
		}
		if err := unpackFile(root, strings.TrimPrefix(path.Clean(header.Name), "/"), entries); err != nil {
			return err
		}
	}
}

func unpackFile(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
