package github

import (
	"encoding/hex"
	"path"
	"slices"
	"strings"
)

// checksumsFor returns, of a release's files, the name of the file that should have the asset's SHA-256: a file for the
// asset alone, else a file for all assets. It returns "" for none.
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

// findChecksum returns the SHA-256 of the asset in a checksums file in the format of sha256sum: the digest, a space, a
// space or an asterisk, the name. In a file for the asset alone (own) the digest may stand without a name. The result
// is "" if the text has no digest for the asset, or two different digests.
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
