package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"go.yaml.in/yaml/v3"
)

// githubEnv are the variables that GitHub's runner sets in a run of the release workflow.
func githubEnv(version, commit string) []string {
	const repository = "grpc-cnb/health-probe"
	ref := "refs/tags/v" + version
	return []string{
		"GITHUB_SERVER_URL=https://github.com", "GITHUB_REPOSITORY=" + repository, "GITHUB_REPOSITORY_ID=1",
		"GITHUB_REPOSITORY_OWNER_ID=2", "GITHUB_EVENT_NAME=push", "GITHUB_REF=" + ref, "GITHUB_SHA=" + commit,
		"GITHUB_WORKFLOW_REF=" + repository + "/.github/workflows/release.yml@" + ref, "GITHUB_RUN_ID=3",
		"GITHUB_RUN_ATTEMPT=1",
	}
}

// commitOf is the commit that is checked out in a clone.
func commitOf(t *testing.T, clone string) string {
	t.Helper()
	return strings.TrimSpace(string(must(exec.CommandContext(t.Context(), "git", "-C", clone, "rev-parse",
		"HEAD").Output())(t)))
}

// The types of what is attested, as cosign calls them.
const (
	slsaProvenance = "slsaprovenance1"
	cycloneDX      = "cyclonedx"
)

// TestForgedAttestations has images that the release's key signed, each with other attestations than scripts/sign.sh
// makes. cosign itself makes those that are no copies.
func TestForgedAttestations(t *testing.T) {
	t.Parallel()
	f := newForgery(t)
	attested := f.image(t)
	for _, c := range f.attestations(t, attested) {
		f.forge(t, c)
		if err := f.verify(t); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: it ends with %v, want %q", c.what, err, c.why)
		}
	}

	f.publish(t, "health-probe", f.buildpack, "ours")
	f.list(t)
	f.attest(t, "theirs", slsaProvenance, f.changed(t, "provenance.json", f.commit, noCommit), attested)
	f.attest(t, "theirs", cycloneDX, f.changed(t, "health-probe.cdx.json", "health-probe", "mine"), attested)
	if err := f.verify(t); err != nil {
		t.Errorf("beside attestations of another key, what is signed is refused: %v", err)
	}
}

// TestPolicyOfImages has Kyverno decide, by the policy of the examples, about pods with images that
// TestForgedAttestations has too. The policy trusts the release's key in place of the workflow.
func TestPolicyOfImages(t *testing.T) {
	t.Parallel()
	f := newForgery(t)
	attested := f.image(t)
	policy := f.imagePolicy(t)
	forged := f.attestations(t, attested)
	for _, c := range forged {
		if c.policy != "" {
			f.wantDecision(t, policy, "containers: [{name: app, image: "+f.forge(t, c)+"}]", c.policy)
		}
	}

	tagged, _, _ := strings.Cut(attested, "@")
	bare, refusal := f.forge(t, forged[0]), forged[0].policy
	for pod, want := range map[string]string{
		"containers: [{name: app, image: " + attested + "}]":                               "",
		"containers: [{name: app, image: example.com/app}]":                                "",
		"volumes: [{name: probe, image: {reference: " + attested + "}}]":                   "",
		"volumes: [{name: probe, image: {reference: " + tagged + "}}]":                     "does not have a digest",
		"volumes: [{name: probe, image: {reference: " + bare + "}}]":                       refusal,
		"initContainers: [{name: probe, image: " + bare + "}]":                             refusal,
		"ephemeralContainers: [{name: probe, image: " + bare + "}]":                        refusal,
		"containers: [{name: a, image: " + attested + "}, {name: b, image: " + bare + "}]": refusal,
	} {
		f.wantDecision(t, policy, pod, want)
	}
}

// imagePolicy returns the path of the policy of the examples, for the registry and the key of the forgery.
func (f *forgery) imagePolicy(t *testing.T) string {
	t.Helper()
	type object = map[string]any
	var policy struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   object
		Spec       object
	}
	text := must(os.ReadFile(filepath.Join(repository, "examples/kyverno-images.yaml")))(t)
	if err := yaml.Unmarshal(text, &policy); err != nil {
		t.Fatal(err)
	}
	registry, _, _ := strings.Cut(f.buildpack, "/")
	policy.Spec["matchImageReferences"] = []object{{"glob": registry + "/*"}}
	policy.Spec["attestors"] = []object{{"name": "workflow", "cosign": object{
		"key":   object{"data": string(must(os.ReadFile(f.path("dist/keys/ours/cosign.pub")))(t))},
		"ctlog": object{"insecureIgnoreTlog": true, "insecureIgnoreSCT": true},
	}}}
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, must(yaml.Marshal(policy))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantDecision has Kyverno decide about a pod, and expects a refusal with a message, or none.
func (f *forgery) wantDecision(t *testing.T, policy, spec, refusal string) {
	t.Helper()
	pod := filepath.Join(t.TempDir(), "pod.yaml")
	text := "apiVersion: v1\nkind: Pod\nmetadata: {name: app}\nspec: {" + spec + "}\n"
	if err := os.WriteFile(pod, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	apply := exec.CommandContext(t.Context(), must(fixture.Tool(t.Context(), "kyverno"))(t), "apply", policy,
		"--registry", "--detailed-results", "--resource", pod)
	apply.Env = append(os.Environ(), f.env...)
	log, err := apply.CombinedOutput()
	switch {
	case refusal == "" && err != nil:
		t.Errorf("%s: it is refused:\n%s", spec, log)
	case refusal != "" && (err == nil || !strings.Contains(string(log), refusal)):
		t.Errorf("%s: it ends with %v, want a refusal with %q:\n%s", spec, err, refusal, log)
	}
}

// noCommit is a commit that is not there.
var noCommit = strings.Repeat("0", 40)

// forgedAttestations are what is attested of an image, and why scripts/verify.sh refuses that.
type forgedAttestations struct {
	what, why string
	policy    string // why Kyverno refuses, if the policy of the examples can know
	forge     func(image string)
}

// attestations are forged with those of an image that has all of them.
func (f *forgery) attestations(t *testing.T, attested string) []forgedAttestations {
	t.Helper()
	const nothing = "none of the attestations matched the predicate type"
	const otherwise = "1 validation errors occurred"
	const noProvenance, noSBOM = "did not attest the image's provenance", "did not attest the image's SBOM"
	provenance, sbom := f.path("dist/publish/provenance.json"), f.path("dist/publish/health-probe.cdx.json")
	return []forgedAttestations{
		{"no attestation", nothing, noProvenance, func(string) {}},
		{"no SBOM", nothing, noSBOM, func(image string) { f.attest(t, "ours", slsaProvenance, provenance, image) }},
		{"no provenance", nothing, noProvenance, func(image string) { f.attest(t, "ours", cycloneDX, sbom, image) }},
		{"attestations of another key", nothing, noProvenance, func(image string) {
			f.attest(t, "theirs", slsaProvenance, provenance, image)
			f.attest(t, "theirs", cycloneDX, sbom, image)
		}},
		{"attestations of another image", nothing, noProvenance, func(image string) {
			f.copyAttestations(t, attested, image, func(statement []byte) []byte { return statement })
		}},
		{"attestations whose subject was changed", nothing, noProvenance, func(image string) {
			f.copyAttestations(t, attested, image, func(statement []byte) []byte {
				_, old, _ := strings.Cut(attested, "@sha256:")
				_, replacement, _ := strings.Cut(image, "@sha256:")
				return bytes.ReplaceAll(statement, []byte(old), []byte(replacement))
			})
		}},
		{"provenance of another commit", otherwise, "", func(image string) {
			f.attest(t, "ours", slsaProvenance, f.changed(t, "provenance.json", f.commit, noCommit), image)
			f.attest(t, "ours", cycloneDX, sbom, image)
		}},
		{"provenance of another repository", otherwise, "names another repository", func(image string) {
			f.attest(t, "ours", slsaProvenance, f.changed(t, "provenance.json", "grpc-cnb", "mine"), image)
			f.attest(t, "ours", cycloneDX, sbom, image)
		}},
		{"another SBOM", otherwise, "", func(image string) {
			f.attest(t, "ours", slsaProvenance, provenance, image)
			f.attest(t, "ours", cycloneDX, f.changed(t, "health-probe.cdx.json", "health-probe", "mine"), image)
		}},
	}
}

// forge publishes the buildpack's image anew, signed by the release's key, with forged attestations. It returns the
// image's name.
func (f *forgery) forge(t *testing.T, attestations forgedAttestations) string {
	t.Helper()
	f.publish(t, "health-probe", f.buildpack, attestations.what)
	f.list(t)
	image := f.image(t)
	f.cosign(t, "sign", "ours", image)
	attestations.forge(image)
	return image
}

// changed is a file like one in dist/publish, with other words in it.
func (f *forgery) changed(t *testing.T, name, old, replacement string) string {
	t.Helper()
	text := string(must(os.ReadFile(f.path("dist/publish/" + name)))(t))
	if !strings.Contains(text, old) {
		t.Fatalf("%s does not have %q", name, old)
	}
	forged := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(forged, []byte(strings.ReplaceAll(text, old, replacement)), 0o600); err != nil {
		t.Fatal(err)
	}
	return forged
}

func (f *forgery) path(name string) string { return filepath.Join(f.clone, name) }

// image is the buildpack's image, as its record names it.
func (f *forgery) image(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(string(must(os.ReadFile(f.path("dist/publish/health-probe.digest")))(t)))
}

// attest has cosign attest a predicate of an image.
func (f *forgery) attest(t *testing.T, owner, kind, predicate, image string) {
	t.Helper()
	f.cosign(t, "attest", owner, "--type", kind, "--predicate", predicate, image)
}

// cosign signs or attests with the key of an owner.
func (f *forgery) cosign(t *testing.T, verb, owner string, args ...string) {
	t.Helper()
	f.run(t, f.clone, must(fixture.Tool(t.Context(), "cosign"))(t), append([]string{
		verb, "--yes", "--key", f.path("dist/keys/" + owner + "/cosign.key"), "--use-signing-config=false",
		"--tlog-upload=false",
	}, args...)...)
}

// copyAttestations attaches to an image what is attested of another one, after a change of the statements, with the
// signatures that are there.
func (f *forgery) copyAttestations(t *testing.T, from, to string, change func(statement []byte) []byte) {
	t.Helper()
	source, target := must(name.NewDigest(from))(t), must(name.NewDigest(to))(t)
	subject := must(remote.Head(target))(t)
	index := must(must(remote.Referrers(source))(t).IndexManifest())(t)
	copied := 0
	for _, referrer := range index.Manifests {
		layers := must(must(remote.Image(source.Context().Digest(referrer.Digest.String())))(t).Layers())(t)
		if !strings.HasPrefix(referrer.ArtifactType, "application/vnd.dev.sigstore.bundle") {
			continue
		}
		reader := must(layers[0].Uncompressed())(t)
		bundle := changeStatement(t, must(io.ReadAll(reader))(t), change)
		_ = reader.Close()
		layer := static.NewLayer(bundle, must(layers[0].MediaType())(t))
		image, ok := mutate.Subject(must(mutate.AppendLayers(empty.Image, layer))(t), *subject).(v1.Image)
		if !ok {
			t.Fatal("an image with a subject is no image")
		}
		digest := must(image.Digest())(t)
		if err := remote.Write(target.Context().Digest(digest.String()), image); err != nil {
			t.Fatal(err)
		}
		copied++
	}
	if copied < 3 {
		t.Fatalf("only %d of a signature and two attestations were copied", copied)
	}
}

// changeStatement changes the statement in a bundle of Sigstore's, which has it in an envelope (DSSE), in base64.
func changeStatement(t *testing.T, text []byte, change func(statement []byte) []byte) []byte {
	t.Helper()
	var bundle, envelope map[string]json.RawMessage
	var statement []byte
	err := json.Unmarshal(text, &bundle)
	err = errors.Join(err, json.Unmarshal(bundle["dsseEnvelope"], &envelope))
	err = errors.Join(err, json.Unmarshal(envelope["payload"], &statement))
	if err != nil {
		t.Fatal(err)
	}
	envelope["payload"] = must(json.Marshal(change(statement)))(t)
	bundle["dsseEnvelope"] = must(json.Marshal(envelope))(t)
	return must(json.Marshal(bundle))(t)
}
