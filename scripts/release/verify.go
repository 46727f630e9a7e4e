package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/build/sbom"
)

// verify checks that the folder of a release has exactly the files that the checksums list. It also checks that the
// records of scripts/publish.sh, for the buildpack, the probe and the plugin, have the given names, the version of the
// release, and the digests in the release's notes. scripts/verify.sh verifies the signatures, which prove the makers.
func verify(root, folder string, images []string) error {
	checksums, err := os.ReadFile(filepath.Join(folder, checksumsName))
	if err != nil {
		return err
	}
	notes, err := os.ReadFile(filepath.Join(folder, notesName))
	if err != nil {
		return err
	}
	version, err := readVersion(root)
	if err != nil {
		return err
	}
	errs := []error{verifyFiles(folder, string(checksums))}
	if !strings.Contains(string(notes), block("", strings.TrimSpace(string(checksums)))) {
		errs = append(errs, fmt.Errorf("%s does not have the lines of %s", notesName, checksumsName))
	}
	for i, record := range []string{buildpackDigest, probeDigest, pluginDigest} {
		errs = append(errs, verifyImage(root, record, version, images[i], string(notes)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("verifying %q: %w", folder, err)
	}
	return nil
}

// verifyFiles compares the files of a folder with the digests in checksumsName.
func verifyFiles(folder, checksums string) error {
	var errs []error
	known := slices.Clone(noAssets)
	for line := range strings.Lines(checksums) {
		want, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || filepath.Base(name) != name || slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("%s: %q is not the digest of a file in the same folder", checksumsName,
				line))
			continue
		}
		known = append(known, name)
		switch got, err := sbom.FileSHA256(filepath.Join(folder, name)); {
		case err != nil:
			errs = append(errs, err)
		case got != want:
			errs = append(errs, fmt.Errorf("%s has the digest %s, and %s lists %s", name, got, checksumsName, want))
		}
	}
	entries, err := os.ReadDir(folder)
	errs = append(errs, err)
	for _, entry := range entries {
		if !slices.Contains(known, entry.Name()) {
			errs = append(errs, fmt.Errorf("%s does not list %s", checksumsName, entry.Name()))
		}
	}
	return errors.Join(errs...)
}

// verifyImage checks that the record of an image has the name, and that the notes tell users the digest.
func verifyImage(root, record, version, name, notes string) error {
	image, found, err := readImage(root, record, version)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("%s names no image: run scripts/publish.sh", record)
	case image.name() != name:
		return fmt.Errorf("%s names the image %s, and this is about %s", record, image.name(), name)
	case !strings.Contains(notes, row(image)):
		return fmt.Errorf("%s does not have %s with the digest %s", notesName, image.reference, image.digest)
	}
	return nil
}
