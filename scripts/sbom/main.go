// Command sbom writes the SBOM of each probe that it is given, in CycloneDX and SPDX format, beside it: FILE.cdx.json and
// FILE.spdx.json.
package main

import (
	"fmt"
	"os"

	"github.com/grpc-cnb/health-probe/build"
)

func main() {
	for _, file := range os.Args[1:] {
		if err := build.Describe(file); err != nil {
			fmt.Fprintf(os.Stderr, "error: %v\n", err)
			os.Exit(1)
		}
	}
}
