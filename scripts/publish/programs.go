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

// programs are the content of an image: the program that the image runs by default, its optional second name, the
// optional file of users, and the image's usage, a format for the image's name.
type programs struct{ main, alias, passwd, use string }

// programsOf are the images of programs. Distributions' packages have the probe's alias. Kustomize runs functions as
// the user nobody, whom Docker looks for in the image.
var programsOf = map[string]programs{
	"probe": {
		main: "grpc_health_probe", alias: "grpc-health-probe",
		use: "In a Dockerfile, and to try it:\n\n" +
			"  COPY --from=%[1]s /bin/grpc_health_probe /bin/grpc_health_probe\n" +
			"  docker run --rm %[1]s -addr=HOST:PORT\n",
	},
	"plugin": {
		main: "kubectl-grpc_probes", passwd: "nobody:x:65534:65534:nobody:/:/bin/false\n",
		use: "In the annotation config.kubernetes.io/function of a function of kustomize:\n\n" +
			"  container: {image: %s, network: true}\n",
	},
}

// user is the usual "not root" of images without a distribution. The value is a number because Kubernetes checks only
// numbers (runAsNonRoot), and the image has no names for them.
const user = "65532:65532"

// read makes an image of each folder OS/ARCH or OS/ARCH/VARIANT in a folder. The programs are below bin, so a volume of
// the probe's image at /layers/grpc-cnb_health-probe/probe has the same paths as an image that the buildpack made.
// Files that end with .cdx.json or .spdx.json are SBOMs of the image with all programs.
func (p programs) read(folder string, labels map[string]string) (release, error) {
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
		image, err := p.image(platformFolder, *platform, labels)
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

func (p programs) image(folder string, platform v1.Platform, labels map[string]string) (platformImage, error) {
	files, sboms, err := readFolder(folder)
	if err != nil {
		return platformImage{}, err
	}
	if files[p.main] == nil {
		return platformImage{}, fmt.Errorf("reading %q: it has no %s", folder, p.main)
	}
	layer, err := p.layer(files)
	if err != nil {
		return platformImage{}, err
	}
	image, err := newImage(layer, v1.Config{
		User: user, Env: []string{"PATH=/bin"}, Entrypoint: []string{"/bin/" + p.main}, Labels: labels,
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
	return programs, sboms, nil
}

// layer returns the layer with the files of programs, the same wherever it is made.
func (p programs) layer(files map[string][]byte) (v1.Layer, error) {
	var text bytes.Buffer
	archive := tar.NewWriter(&text)
	headers := []*tar.Header{{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		headers = append(headers, &tar.Header{Name: "bin/" + name, Mode: 0o755, Size: int64(len(files[name]))})
	}
	if p.alias != "" {
		headers = append(headers, &tar.Header{
			Name: "bin/" + p.alias, Typeflag: tar.TypeSymlink, Linkname: p.main, Mode: 0o777,
		})
	}
	if p.passwd != "" {
		files["passwd"] = []byte(p.passwd)
		headers = append(headers, &tar.Header{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755},
			&tar.Header{Name: "etc/passwd", Mode: 0o644, Size: int64(len(p.passwd))})
	}
	for _, header := range headers {
		header.ModTime = fileTime
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(files[path.Base(header.Name)]); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text.Bytes())), nil
	}, tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
}
