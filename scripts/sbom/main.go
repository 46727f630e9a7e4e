// Command sbom writes SBOMs in CycloneDX and SPDX format:
//   - for a program, a probe or a bridge, FILE.cdx.json and FILE.spdx.json beside the program
//   - for a folder of an image's programs, a common SBOM in the folder
//   - for a folder of the buildpack, with the buildpack's program and the probes, a common SBOM beside the folder
//
// An image has a single SBOM in each format, since scanners read the first SBOM found.
//
//	sbom PROGRAM|FOLDER...
//	sbom -index FILE FOLDER...
//
// With -index the folders are the images of an index: a common SBOM goes to FILE.cdx.json and FILE.spdx.json.
package main

import (
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/grpc-cnb/health-probe/build/archive"
	"github.com/grpc-cnb/health-probe/build/sbom"
)

const (
	// imageName is the image's name in the image's SBOM, and the name of the SBOM's files. An image of a single program
	// has the program's name in the SBOM.
	imageName = "grpc-health-probe"
	// buildpackName is the same for the buildpack.
	buildpackName = "health-probe"
)

func main() {
	index := flag.String("index", "", "write the SBOM of an index of images to this `file`, with two endings")
	flag.Parse()
	if err := run(*index, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func run(index string, paths []string) error {
	if index != "" {
		return writeIndex(index, paths)
	}
	for _, path := range paths {
		if err := write(path); err != nil {
			return err
		}
	}
	return nil
}

func write(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		program, err := describe(path)
		if err != nil {
			return err
		}
		return sbom.WriteBeside(path, program)
	}
	image, err := describeImage(path)
	if err != nil {
		return err
	}
	if image.Name != buildpackName {
		path = filepath.Join(path, image.Name)
	}
	return sbom.WriteBeside(path, image)
}

// writeIndex writes a common SBOM of the images from several folders, all of the same version.
func writeIndex(file string, folders []string) error {
	var index sbom.Component
	for _, folder := range folders {
		image, err := describeImage(folder)
		if err != nil {
			return err
		}
		index.Name, index.Version = image.Name, image.Version
		index.Parts = append(index.Parts, image.Parts...)
	}
	return sbom.WriteBeside(file, index)
}

// describeImage describes an image with the programs in a folder.
func describeImage(folder string) (sbom.Component, error) {
	if own := filepath.Join(folder, "bin", "main"); isFile(own) {
		return describeBuildpack(folder, own)
	}
	programs, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return sbom.Component{}, err
	}
	name := imageName
	if len(programs) == 1 {
		name = filepath.Base(programs[0])
	}
	return describeAll(name, programs)
}

// describeBuildpack describes a buildpack's folder: the buildpack's program, and the probes, some in an archive.
func describeBuildpack(folder, own string) (sbom.Component, error) {
	probes, err := filepath.Glob(filepath.Join(folder, "probes", "*", "*"))
	if err != nil {
		return sbom.Component{}, err
	}
	unpacked, err := os.MkdirTemp("", "sbom")
	if err != nil {
		return sbom.Component{}, err
	}
	defer os.RemoveAll(unpacked)
	for i, probe := range probes {
		name, isArchive := strings.CutSuffix(filepath.Base(probe), ".tgz")
		if !isArchive {
			continue
		}
		if _, err := archive.Unpack(probe, name, unpacked, 0); err != nil {
			return sbom.Component{}, err
		}
		probes[i] = filepath.Join(unpacked, name)
	}
	return describeAll(buildpackName, append([]string{own}, probes...))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// describeAll describes an image or buildpack of several programs, all of the same version.
func describeAll(name string, programs []string) (sbom.Component, error) {
	image := sbom.Component{Name: name}
	for _, file := range programs {
		program, err := describe(file)
		if err != nil {
			return image, err
		}
		image.Version = program.Version
		image.Parts = append(image.Parts, program)
	}
	return image, nil
}

// describe describes a program by its build info.
func describe(file string) (sbom.Component, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return sbom.Component{}, fmt.Errorf("reading the build info of %q: %w", file, err)
	}
	program := sbom.GoProgram(info, info.Main.Version)
	program.Name, program.Source = "grpc_health_probe", "release"
	switch command := path.Base(info.Path); command {
	case "grpc_health_bridge", "grpc_health_inspect", "kubectl-grpc_probes":
		program.Name = command
	case "buildpack":
		program.Name = buildpackName
	}
	program.SHA256, err = sbom.FileSHA256(file)
	return program, err
}
