// Command sbom writes SBOMs in CycloneDX and SPDX format: of each program that it is given, a probe or a bridge, beside
// it, as FILE.cdx.json and FILE.spdx.json; and of each folder, whose programs make an image, one of all of them, in it.
// An image has one SBOM in each format, since scanners read the first one that they find.
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/grpc-cnb/health-probe/build/sbom"
)

// imageName is what the SBOM of an image says that the image is. It is the name of the SBOM's files, too.
const imageName = "grpc-health-probe"

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
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	image := sbom.Component{Name: imageName}
	for _, file := range files {
		program, err := describe(filepath.Join(folder, file.Name()))
		if err != nil {
			return err
		}
		image.Version = program.Version
		image.Parts = append(image.Parts, program)
	}
	return sbom.WriteBeside(filepath.Join(folder, imageName), image)
}

// describe describes a program by its build info.
func describe(file string) (sbom.Component, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return sbom.Component{}, fmt.Errorf("reading the build info of %q: %w", file, err)
	}
	program := sbom.GoProgram(info, info.Main.Version)
	program.Name, program.Source = "grpc_health_probe", "release"
	if command := path.Base(info.Path); command == "grpc_health_bridge" {
		program.Name = command
	}
	program.SHA256, err = sbom.FileSHA256(file)
	return program, err
}
