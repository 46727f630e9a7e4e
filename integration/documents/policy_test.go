package documents_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

// keyless is the identity that a policy trusts.
type keyless struct {
	Identities []struct {
		Issuer        string `yaml:"issuer"`
		SubjectRegExp string `yaml:"subjectRegExp"`
	} `yaml:"identities"`
}

// controllerPolicy is a policy of policy-controller.
type controllerPolicy struct {
	Spec struct {
		Authorities []struct {
			Keyless      keyless `yaml:"keyless"`
			Attestations []struct {
				PredicateType string `yaml:"predicateType"`
			} `yaml:"attestations"`
		} `yaml:"authorities"`
	} `yaml:"spec"`
}

// kyvernoPolicy is a policy of Kyverno.
type kyvernoPolicy struct {
	Spec struct {
		Attestors []struct {
			Cosign struct {
				Keyless keyless `yaml:"keyless"`
			} `yaml:"cosign"`
		} `yaml:"attestors"`
		Attestations []struct {
			InToto struct {
				Type string `yaml:"type"`
			} `yaml:"intoto"`
		} `yaml:"attestations"`
	} `yaml:"spec"`
}

// TestPoliciesTrustTheReleaseWorkflow makes sure that the examples for a cluster trust the signer that
// scripts/verify.sh trusts, and no other workflow, branch or repository, and want what scripts/sign.sh attests.
func TestPoliciesTrustTheReleaseWorkflow(t *testing.T) {
	t.Parallel()
	read := func(name string) string { return string(must(os.ReadFile(filepath.Join(repository, name)))(t)) }
	var controller controllerPolicy
	var kyverno kyvernoPolicy
	err := yaml.Unmarshal([]byte(read("examples/policy-controller.yaml")), &controller)
	err = errors.Join(err, yaml.Unmarshal([]byte(read("examples/kyverno-images.yaml")), &kyverno))
	if err != nil {
		t.Fatal(err)
	}
	authority, attestor := controller.Spec.Authorities[0], kyverno.Spec.Attestors[0]
	if !reflect.DeepEqual(attestor.Cosign.Keyless, authority.Keyless) {
		t.Errorf("Kyverno's policy trusts %v, policy-controller's %v", attestor.Cosign.Keyless, authority.Keyless)
	}
	identity := authority.Keyless.Identities[0]
	if !strings.Contains(read("scripts/verify.sh"), "--certificate-oidc-issuer "+identity.Issuer+")") {
		t.Errorf("scripts/verify.sh trusts another issuer than %q", identity.Issuer)
	}
	subject := must(regexp.Compile(identity.SubjectRegExp))(t)
	const workflows = "https://github.com/grpc-cnb/health-probe/.github/workflows/"
	for name, want := range map[string]bool{
		workflows + "release.yml@refs/tags/v" + must(documents.Version(repository))(t): true,
		workflows + "release.yml@refs/heads/main":                                      false,
		workflows + "test.yml@refs/tags/v1.0.0":                                        false,
		strings.Replace(workflows, "grpc-cnb", "mine", 1) + "release.yml@refs/tags/v1": false,
		"https://example.com/?" + workflows + "release.yml@refs/tags/v1.0.0":           false,
	} {
		if got := subject.MatchString(name); got != want {
			t.Errorf("it trusts %s: %t, want %t", name, got, want)
		}
	}
	var wanted, byKyverno []string
	for _, attestation := range authority.Attestations {
		wanted = append(wanted, attestation.PredicateType)
	}
	for _, attestation := range kyverno.Spec.Attestations {
		byKyverno = append(byKyverno, attestation.InToto.Type)
	}
	types := map[string]string{
		"slsaprovenance1": "https://slsa.dev/provenance/v1", "cyclonedx": "https://cyclonedx.org/bom",
	}
	var attested []string
	attests := regexp.MustCompile(` attest .*--type (\w+)`)
	for _, match := range attests.FindAllStringSubmatch(read("scripts/sign.sh"), -1) {
		attested = append(attested, types[match[1]])
	}
	if !slices.Equal(attested, wanted) {
		t.Errorf("policy-controller wants %q, and scripts/sign.sh attests %q", wanted, attested)
	}
	if !slices.Equal(attested, byKyverno) {
		t.Errorf("Kyverno wants %q, and scripts/sign.sh attests %q", byKyverno, attested)
	}
}
