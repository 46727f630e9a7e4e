package github

import (
	"encoding/hex"
	"path"
	"slices"
	"strings"
)

// checksumsFor returns the name among those of a release's files that should have the SHA-256 of the asset: a file for
// this asset alone, else one for all. It returns "" if there is none.
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

// findChecksum returns the SHA-256 of the asset in the text of a checksums file, as sha256sum writes it: the digest, a
// space, a space or an asterisk, the name. In a file for the asset alone (own) the digest may stand without a name. It
// returns "" if the text has no digest for the asset, or two that differ.
func findChecksum(text, asset string, own bool) string {
	found := ""
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || len(fields) > 2 || !isSHA256(fields[0]) {
			continue
		}
		if alone := len(fields) == 1; alone && !own ||
			!alone && path.Base(strings.TrimPrefix(fields[1], "*")) != asset {
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
