// Command sbom writes SBOMs in CycloneDX and SPDX format: of each program that it is given, a probe or a bridge, beside
// it, as FILE.cdx.json and FILE.spdx.json; of each folder of programs, which make an image, one of all of them, in it;
// and of each folder of the buildpack, with its own program and the probes, one of all of them, beside it. An image has
// one SBOM in each format, since scanners read the first one that they find.
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/grpc-cnb/health-probe/build/archive"
	"github.com/grpc-cnb/health-probe/build/sbom"
)

const (
	// imageName is what the SBOM of an image says that the image is. It is the name of the SBOM's files, too.
	imageName = "grpc-health-probe"
	// buildpackName is the same of the buildpack.
	buildpackName = "health-probe"
)

func main() {
	for _, path := range os.Args[1:] {
		if err := write(path); err != nil {
			fmt.Fprintf(os.Stderr, "error: %v\n", err)
			os.Exit(1)
		}
	}
}

func write(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return writeImage(path)
	}
	program, err := describe(path)
	if err != nil {
		return err
	}
	return sbom.WriteBeside(path, program)
}

// writeImage writes the SBOM of an image with the programs in a folder.
func writeImage(folder string) error {
	if own := filepath.Join(folder, "bin", "main"); isFile(own) {
		return writeBuildpack(folder, own)
	}
	programs, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return err
	}
	return writeAll(filepath.Join(folder, imageName), imageName, programs)
}

// writeBuildpack writes the SBOM of a buildpack's folder: of its own program, and of the probes in it, some of which
// are in an archive.
func writeBuildpack(folder, own string) error {
	probes, err := filepath.Glob(filepath.Join(folder, "probes", "*", "*"))
	if err != nil {
		return err
	}
	unpacked, err := os.MkdirTemp("", "sbom")
	if err != nil {
		return err
	}
	defer os.RemoveAll(unpacked)
	for i, probe := range probes {
		name, isArchive := strings.CutSuffix(filepath.Base(probe), ".tgz")
		if !isArchive {
			continue
		}
		if _, err := archive.Unpack(probe, name, unpacked, 0); err != nil {
			return err
		}
		probes[i] = filepath.Join(unpacked, name)
	}
	return writeAll(folder, buildpackName, append([]string{own}, probes...))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// writeAll writes one SBOM of several programs, which all have the same version.
func writeAll(file, name string, programs []string) error {
	image := sbom.Component{Name: name}
	for _, file := range programs {
		program, err := describe(file)
		if err != nil {
			return err
		}
		image.Version = program.Version
		image.Parts = append(image.Parts, program)
	}
	return sbom.WriteBeside(file, image)
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
	case "grpc_health_bridge":
		program.Name = command
	case "buildpack":
		program.Name = buildpackName
	}
	program.SHA256, err = sbom.FileSHA256(file)
	return program, err
}
