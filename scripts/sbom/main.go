// Command sbom writes the SBOM of each probe, and each bridge, that it is given, in CycloneDX and SPDX format, beside
// it: FILE.cdx.json and FILE.spdx.json.
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path"

	"github.com/grpc-cnb/health-probe/build/sbom"
)

func main() {
	for _, file := range os.Args[1:] {
		if err := describe(file); err != nil {
			fmt.Fprintf(os.Stderr, "error: %v\n", err)
			os.Exit(1)
		}
	}
}

func describe(file string) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the build info of %q: %w", file, err)
	}
	program := sbom.GoProgram(info, info.Main.Version)
	program.Name, program.Source = "grpc_health_probe", "release"
	if command := path.Base(info.Path); command == "grpc_health_bridge" {
		program.Name = command
	}
	if program.SHA256, err = sbom.FileSHA256(file); err != nil {
		return err
	}
	return sbom.WriteBeside(file, program)
}
