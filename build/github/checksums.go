package github

import (
	"encoding/hex"
	"path"
	"slices"
	"strings"
)

// checksumsFor picks the release's file that should list the SHA-256 of the asset, or "": the asset's own, else the one
// for all assets.
func checksumsFor(asset string, names []string) string {
	for _, ending := range []string{".sha256", ".sha256sum", ".SHA256"} {
		if slices.Contains(names, asset+ending) {
			return asset + ending
		}
	}
	for _, name := range names {
		switch lower := strings.ToLower(name); {
		case lower == "checksums.txt", lower == "sha256sum.txt", strings.HasSuffix(lower, "sha256sums"),
			strings.HasSuffix(lower, "sha256sums.txt"), strings.HasSuffix(lower, "_checksums.txt"):
			return name
		}
	}
	return ""
}

// findChecksum returns the SHA-256 of the asset that a checksums file gives, in the form of sha256sum: the digest, a
// space, a space or an asterisk, the name. A file with nothing but a digest is for the one asset that it is named after.
// Two different digests for one name are none.
func findChecksum(text, asset string, own bool) string {
	found := ""
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || len(fields) > 2 || !isSHA256(fields[0]) {
			continue
		}
		if alone := len(fields) == 1; alone && !own || !alone && path.Base(strings.TrimPrefix(fields[1], "*")) != asset {
			continue
		}
		digest := strings.ToLower(fields[0])
		if found != "" && found != digest {
			return ""
		}
		found = digest
	}
	return found
}

func isSHA256(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == 32
}
