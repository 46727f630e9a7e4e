package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const notesName = "notes.md"

// repository has the releases, and the workflow that signs them.
const (
	repository = "grpc-cnb/health-probe"
	releases   = "https://github.com/" + repository + "/releases"
)

// writeNotes writes the text of a release to notesName in its folder, which has all other files already: first an
// introduction (the product, how to get and verify the images), then the version's section of CHANGELOG.md, the
// published images with their digests, the digests of the files, and how to verify the files.
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

// intro is for readers new to the project.
const intro = `A Cloud Native Buildpack that finds the gRPC server in your app and puts a health probe for it into the
image. The build's log ends with the probe to paste.
`

// imageNotes returns how to get and verify the version's images, and lines to copy with the images' digests. Before the
// images are published, start names the release's file instead, and lines is empty.
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
	images, use := []image{buildpack}, ""
	for _, record := range []string{probeDigest, pluginDigest} {
		i, found, err := readImage(root, record, version)
		if err != nil {
			return "", "", err
		}
		if !found {
			continue
		}
		images = append(images, i)
		lines += row(i)
		if record == probeDigest {
			use = "\nIn a Dockerfile, for an image that no buildpack makes:\n" + block("dockerfile",
				"COPY --from="+i.reference+"@"+i.digest+" /bin/grpc_health_probe "+
					"/layers/grpc-cnb_health-probe/probe/bin/")
		}
	}
	lines += use + "\nIn a project.toml:\n" + block("toml",
		"[[io.buildpacks.group]]", `uri = "docker://`+buildpack.reference+`"`)
	return start + verifyImages(version, images), lines, nil
}

// verifyImages returns the lines that verify the makers of the images, by the images' digests.
func verifyImages(version string, images []image) string {
	var names []string
	for _, i := range images {
		names = append(names, i.name()+"@"+i.digest)
	}
	return "\nVerify that this project's release workflow made the images:\n" + block("sh",
		"cosign verify"+signedBy(version)+" \\\n  "+strings.Join(names, " \\\n  "))
}

func row(i image) string { return "| `" + i.reference + "` | `" + i.digest + "` |\n" }

// fileNotes returns the digests of the files, the settings for a download of this version's probe by another buildpack
// version, and how to install the plugin.
func fileNotes(version, checksums string) string {
	var uses []string
	for line := range strings.Lines(checksums) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		switch name {
		case krewName:
			uses = append(uses, "\nThis installs the plugin for kubectl, and verifies it:\n"+block("sh",
				"kubectl krew install --manifest-url="+releases+"/download/v"+version+"/"+krewName))
		case "grpc_health_probe-linux-amd64":
			uses = append(uses, "\nThis has a build download the probe of this release, and verify it:\n"+block("sh",
				"pack build my-app --env BP_GRPC_HEALTH_PROBE_SOURCE=download \\",
				"  --env BP_GRPC_HEALTH_PROBE_REPO="+repository+" \\",
				"  --env BP_GRPC_HEALTH_PROBE_VERSION=v"+version+" \\",
				"  --env BP_GRPC_HEALTH_PROBE_SHA256="+digest))
		}
	}
	return "\n## Files\n" + block("", strings.TrimSpace(checksums)) + strings.Join(uses, "")
}

// verifyNotes returns how to verify the makers of the files.
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

// signedBy returns cosign's flags that demand the release workflow's signature, for the tag of a version.
func signedBy(version string) string {
	return " \\\n  --certificate-identity https://github.com/" + repository +
		"/.github/workflows/release.yml@refs/tags/v" + version +
		" \\\n  --certificate-oidc-issuer https://token.actions.githubusercontent.com"
}

// block returns lines of code in Markdown.
func block(language string, lines ...string) string {
	return "\n```" + language + "\n" + strings.Join(lines, "\n") + "\n```\n"
}
