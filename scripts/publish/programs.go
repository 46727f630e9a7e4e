package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const (
	// probeProgram is what the image runs by default, and probeAlias the name that distributions' packages have for it.
	probeProgram = "grpc_health_probe"
	probeAlias   = "grpc-health-probe"
	// user is the one that images without a distribution use for "not root"; it is a number because Kubernetes checks
	// only numbers (runAsNonRoot), and the image has no names for them.
	user = "65532:65532"
)

// readPrograms makes an image of each folder OS/ARCH or OS/ARCH/VARIANT in a folder, with the programs in it below
// bin, so that a volume of the image at /layers/grpc-cnb_health-probe/probe has them where an image has them that the
// buildpack made. What ends with .cdx.json or .spdx.json is an SBOM, of the image with all its programs.
func readPrograms(folder string, labels map[string]string) (release, error) {
	var release release
	err := filepath.WalkDir(folder, func(platformFolder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		files, err := os.ReadDir(platformFolder)
		if err != nil {
			return err
		}
		if len(files) == 0 || files[0].IsDir() {
			return nil
		}
		name, err := filepath.Rel(folder, platformFolder)
		if err != nil {
			return err
		}
		platform, err := v1.ParsePlatform(filepath.ToSlash(name))
		if err != nil {
			return fmt.Errorf("reading the platform %q: %w", name, err)
		}
		image, err := programImage(platformFolder, *platform, labels)
		if err != nil {
			return fmt.Errorf("making the image of %q: %w", platformFolder, err)
		}
		release.images = append(release.images, image)
		return nil
	})
	if err == nil && len(release.images) == 0 {
		err = errors.New("there are no programs in it")
	}
	if err != nil {
		return release, fmt.Errorf("reading %q: %w", folder, err)
	}
	return release, nil
}

func programImage(folder string, platform v1.Platform, labels map[string]string) (platformImage, error) {
	programs, sboms, err := readFolder(folder)
	if err != nil {
		return platformImage{}, err
	}
	layer, err := programLayer(programs)
	if err != nil {
		return platformImage{}, err
	}
	image, err := newImage(layer, v1.Config{
		User: user, Env: []string{"PATH=/bin"}, Entrypoint: []string{"/bin/" + probeProgram}, Labels: labels,
	}, platform)
	image.sboms = sboms
	return image, err
}

// readFolder reads the programs and SBOMs of one platform.
func readFolder(folder string) (programs map[string][]byte, sboms []sbom, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, err
	}
	programs = map[string][]byte{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, nil, err
		}
		if mediaType, ok := sbomType(entry.Name()); ok {
			sboms = append(sboms, sbom{entry.Name(), mediaType, content})
		} else {
			programs[entry.Name()] = content
		}
	}
	if programs[probeProgram] == nil {
		return nil, nil, fmt.Errorf("reading %q: it has no %s", folder, probeProgram)
	}
	return programs, sboms, nil
}

// programLayer is the layer with the programs, which is the same wherever it is made.
func programLayer(programs map[string][]byte) (v1.Layer, error) {
	var files bytes.Buffer
	archive := tar.NewWriter(&files)
	headers := []*tar.Header{{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755}}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		headers = append(headers, &tar.Header{Name: "bin/" + name, Mode: 0o755, Size: int64(len(programs[name]))})
	}
	headers = append(headers, &tar.Header{
		Name: "bin/" + probeAlias, Typeflag: tar.TypeSymlink, Linkname: probeProgram, Mode: 0o777,
	})
	for _, header := range headers {
		header.ModTime = fileTime
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(programs[path.Base(header.Name)]); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	}, tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
}
