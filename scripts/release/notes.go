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

// writeNotes writes the text of a release to notesName in its folder, which has all other files already: first what a
// user needs (what it is, how to get and how to verify it), then what CHANGELOG.md says of the version, the published
// images with their digests, the digests of the files, and how to verify these.
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
	start, images, err := imageNotes(root, version)
	if err != nil {
		return err
	}
	text := start + "\n## What changed\n\n" + strings.TrimSpace(changes) + "\n" + images +
		fileNotes(version, string(checksums)) + verifyNotes(version)
	return os.WriteFile(filepath.Join(folder, notesName), []byte(text), 0o644)
}

// intro is what someone reads who has not seen the project.
const intro = `A Cloud Native Buildpack that finds the gRPC server in your app and puts a health probe for it into the
image. The build's log ends with the probe to paste.
`

// imageNotes returns how to get and verify what the version has, and lines to copy with the images' digests. Before
// the images are published, the first has the release's file in place of them, and the second is empty.
func imageNotes(root, version string) (start, lines string, err error) {
	buildpack, found, err := readImage(root, buildpackDigest, version)
	if err != nil {
		return "", "", err
	}
	if !found {
		return intro + block("sh",
			"pack build my-app --buildpack from=builder --buildpack health-probe-linux-amd64.cnb"), "", nil
	}
	start = intro + block("sh", "pack build my-app --buildpack from=builder --buildpack "+buildpack.reference)
	lines = "\n## Images\n\n| image | digest |\n| --- | --- |\n" + row(buildpack)
	probe, found, err := readImage(root, probeDigest, version)
	if err != nil {
		return "", "", err
	}
	both := []image{buildpack}
	if found {
		both = append(both, probe)
		lines += row(probe) + "\nIn a Dockerfile, for an image that no buildpack makes:\n" + block("dockerfile",
			"COPY --from="+probe.reference+"@"+probe.digest+" /bin/grpc_health_probe "+
				"/layers/grpc-cnb_health-probe/probe/bin/")
	}
	lines += "\nIn a project.toml:\n" + block("toml",
		"[[io.buildpacks.group]]", `uri = "docker://`+buildpack.reference+`"`)
	return start + verifyImages(version, both), lines, nil
}

// verifyImages are the lines that find out who made the images, by their digests.
func verifyImages(version string, images []image) string {
	var names []string
	for _, i := range images {
		names = append(names, i.name()+"@"+i.digest)
	}
	return "\nVerify that this project's release workflow made the images:\n" + block("sh",
		"cosign verify"+signedBy(version)+" \\\n  "+strings.Join(names, " \\\n  "))
}

func row(i image) string { return "| `" + i.reference + "` | `" + i.digest + "` |\n" }

// fileNotes are the digests of the files, and the setting with which another buildpack version downloads the probe of
// this one.
func fileNotes(version, checksums string) string {
	files := "\n## Files\n" + block("", strings.TrimSpace(checksums))
	for line := range strings.Lines(checksums) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if name == "grpc_health_probe-linux-amd64" {
			return files + "\nThis has a build download the probe of this release, and verify it:\n" + block("sh",
				"pack build my-app --env BP_GRPC_HEALTH_PROBE_SOURCE=download \\",
				"  --env BP_GRPC_HEALTH_PROBE_REPO="+repository+" \\",
				"  --env BP_GRPC_HEALTH_PROBE_VERSION=v"+version+" \\",
				"  --env BP_GRPC_HEALTH_PROBE_SHA256="+digest)
		}
	}
	return files
}

// verifyNotes say how to find out who made the files.
func verifyNotes(version string) string {
	return "\n## Verify the files\n\n" +
		"Compare their digests, and ask GitHub's attestations who made them:\n" + block("sh",
		"sha256sum --check --ignore-missing checksums.txt",
		"gh attestation verify grpc_health_probe-linux-amd64 --repo "+repository) +
		"\nVerify the signature of checksums.txt, which the release workflow made without a key:\n" +
		block("sh",
			"cosign verify-blob --bundle checksums.txt.sigstore.json"+signedBy(version)+" checksums.txt") +
		"\nOr make them yourself: `scripts/release.sh` on the tag v" + version + " gives everyone the same files.\n"
}

// signedBy are cosign's flags that want the release workflow's signature, for the tag of a version.
func signedBy(version string) string {
	return " \\\n  --certificate-identity https://github.com/" + repository +
		"/.github/workflows/release.yml@refs/tags/v" + version +
		" \\\n  --certificate-oidc-issuer https://token.actions.githubusercontent.com"
}

// block is lines of code as Markdown shows them.
func block(language string, lines ...string) string {
	return "\n```" + language + "\n" + strings.Join(lines, "\n") + "\n```\n"
}
