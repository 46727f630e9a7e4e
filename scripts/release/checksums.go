package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/build/sbom"
)

// checksumsName is the file that verifies a download of the probe if GitHub states no digest.
const checksumsName = "checksums.txt"

// noAssets are the files of a release's folder that checksumsName does not list: the signature is of checksumsName.
var noAssets = []string{checksumsName, checksumsName + ".sigstore.json", notesName}

// writeChecksums writes the SHA-256 of each file in a folder to checksumsName, in the format of sha256sum, and prints
// the text.
func writeChecksums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, entry := range entries { // in the order of their names
		if slices.Contains(noAssets, entry.Name()) {
			continue
		}
		digest, err := sbom.FileSHA256(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", digest, entry.Name())
	}
	if text.Len() == 0 {
		return fmt.Errorf("writing the checksums of %q: there is no file in it", folder)
	}
	fmt.Fprint(os.Stdout, text.String())
	return os.WriteFile(filepath.Join(folder, checksumsName), []byte(text.String()), 0o644)
}
