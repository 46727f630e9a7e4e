package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/grpc-cnb/health-probe/scripts/openvex"
)

// vexSource is the output of scripts/vulncheck.sh.
const vexSource = "dist/vulncheck/openvex.json"

// vexName is the file of a release for scanners. vexProgram is any of the programs of the release.
const (
	vexName    = "health-probe.openvex.json"
	vexProgram = "grpc_health_probe-linux-amd64"
)

// writeVEX writes the findings of scripts/vulncheck.sh to the folder of a release: for the programs wherever they are,
// and for the images, which only digests identify. Without a document of scripts/vulncheck.sh, writeVEX reports that
// there is none.
func writeVEX(root, folder string) error {
	document, err := openvex.Read(filepath.Join(root, vexSource))
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(os.Stderr, "warning: the release has no VEX document: scripts/vulncheck.sh makes it")
		return nil
	}
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(filepath.Join(folder, vexProgram))
	if err != nil {
		return err
	}
	if want := openvex.ProgramOf(info); !document.IsAbout(want) {
		return fmt.Errorf("reading %q: it is about other programs than %s: run scripts/vulncheck.sh again", vexSource,
			want)
	}
	version, err := readVersion(root)
	if err != nil {
		return err
	}
	for _, name := range []string{buildpackDigest, probeDigest} {
		image, found, err := readImage(root, name, version)
		if err != nil {
			return err
		}
		if found {
			document.AddProduct(openvex.ImageOf(image.name(), image.digest))
		}
	}
	document.ID = releases + "/download/v" + version + "/" + vexName
	return document.Write(filepath.Join(folder, vexName))
}
