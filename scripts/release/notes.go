package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// notesName is the text of a release.
const notesName = "notes.md"

// repository is where releases are, and whose workflow signs them.
const repository = "grpc-cnb/health-probe"

// writeNotes writes the text of a release to notesName in its folder, which has all other files already: what
// CHANGELOG.md says of the version, the images with their digests as far as they are published, the digests of the
// files, and how to verify all of these.
func writeNotes(root, folder string) error {
	version, err := readVersion(root)
	if err != nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	_, changes, err := section(string(changelog), version)
	if err != nil {
		return err
	}
	checksums, err := os.ReadFile(filepath.Join(folder, checksumsName))
	if err != nil {
		return fmt.Errorf("reading the digests of the release's files: %w", err)
	}
	images, err := imageNotes(root, version)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(changes) + "\n" + images + fileNotes(version, string(checksums)) + verifyNotes(version)
	return os.WriteFile(filepath.Join(folder, notesName), []byte(text), 0o644)
}

// imageNotes are the lines to copy: where the images are published, with them, else with the file of the release.
func imageNotes(root, version string) (string, error) {
	buildpack, found, err := readImage(root, buildpackDigest, version)
	if err != nil {
		return "", err
	}
	if !found {
		return "\n## Use it\n" + block("sh",
			"pack build my-app --buildpack from=builder --buildpack health-probe-linux-amd64.cnb"), nil
	}
	text := "\n## Use it\n" +
		block("sh", "pack build my-app --buildpack from=builder --buildpack "+buildpack.reference) +
		"\nIn a project.toml:\n" + block("toml",
		"[[io.buildpacks.group]]", `uri = "docker://`+buildpack.reference+`"`) +
		"\n| image | digest |\n| --- | --- |\n" + row(buildpack)
	probe, found, err := readImage(root, probeDigest, version)
	if err != nil || !found {
		return text, err
	}
	return text + row(probe) + "\nIn a Dockerfile, for an image that no buildpack makes:\n" + block("dockerfile",
		"COPY --from="+probe.reference+"@"+probe.digest+" /bin/grpc_health_probe "+
			"/layers/grpc-cnb_health-probe/probe/bin/"), nil
}

func row(i image) string { return "| `" + i.reference + "` | `" + i.digest + "` |\n" }

// fileNotes are the digests of the files, and the setting with which another buildpack version downloads the probe of
// this one.
func fileNotes(version, checksums string) string {
	files := "\n## Files\n" + block("", strings.TrimSpace(checksums))
	for line := range strings.Lines(checksums) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if name == "grpc_health_probe-linux-amd64" {
			return files + "\nThe probe of this release, downloaded and verified in a build:\n" + block("sh",
				"pack build my-app --env BP_GRPC_HEALTH_PROBE_SOURCE=download \\",
				"  --env BP_GRPC_HEALTH_PROBE_REPO="+repository+" \\",
				"  --env BP_GRPC_HEALTH_PROBE_VERSION=v"+version+" \\",
				"  --env BP_GRPC_HEALTH_PROBE_SHA256="+digest)
		}
	}
	return files
}

// verifyNotes say who made the files and the images, and how to find out.
func verifyNotes(version string) string {
	identity := "https://github.com/" + repository + "/.github/workflows/release.yml@refs/tags/v" + version
	signed := " --certificate-identity " + identity +
		" \\\n  --certificate-oidc-issuer https://token.actions.githubusercontent.com"
	return "\n## Verify it\n\n" +
		"The files by their digests, and where they were made by GitHub's attestations:\n" + block("sh",
		"sha256sum --check --ignore-missing checksums.txt",
		"gh attestation verify grpc_health_probe-linux-amd64 --repo "+repository) +
		"\nThe signatures of checksums.txt and of the images, which the release workflow made without a key:\n" +
		block("sh",
			"cosign verify-blob --bundle checksums.txt.sigstore.json \\\n "+signed+" checksums.txt",
			"cosign verify"+" \\\n "+signed+" ghcr.io/"+repository+":"+version) +
		"\nThe same commit gives the same files to everyone: `scripts/release.sh` on the tag v" + version + ".\n"
}

// block is lines of code as Markdown shows them.
func block(language string, lines ...string) string {
	return "\n```" + language + "\n" + strings.Join(lines, "\n") + "\n```\n"
}
