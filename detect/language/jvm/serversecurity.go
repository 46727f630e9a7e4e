package jvm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// given returns the setting of TLS that processes give, "" if they give none.
func (b *build) given(t tlsKeys) string {
	plain := strings.NewReplacer(".", "", "-", "", "_", "")
	for _, name := range slices.Concat(b.processes.Flags(), b.processes.Variables()) {
		of := strings.ToLower(plain.Replace(strings.TrimPrefix(name, "D")))
		for _, key := range append(slices.Clip(t.given), t.enabled) {
			if key != "" && strings.HasPrefix(of, plain.Replace(key)) {
				return key
			}
		}
	}
	return ""
}

// security returns what the settings say of the server's TLS: nothing if none of them is set.
func (b *build) security(framework string, keys serverKeys) []finding.Finding {
	state := func(says plan.Security, at plan.Place) []finding.Finding {
		return []finding.Finding{finding.Security{Site: finding.AtPlace(at, ""), Says: says}}
	}
	switch {
	case keys.port == "quarkus.http.port":
		return b.quarkusWebSecurity(state)
	case framework == armeria:
		return b.armeriaSecurity(keys, state)
	}
	t := keys.tls
	if key := b.given(t); key != "" {
		return state(plan.Security{Setting: "the setting " + key}, plan.Place{Path: procfile.Name})
	}
	for key, s := range b.settings.all() {
		if key == t.enabled {
			return state(b.enabled(s, t), s.Place)
		}
		if hasPrefixIn(key, t.given) && b.settings.text(t.enabled) == "" {
			return state(b.withCertificate(t), s.Place)
		}
	}
	for key, s := range b.profileSettings.all() {
		if key == t.enabled || hasPrefixIn(key, t.given) {
			return state(plan.Security{Setting: "the setting " + key}, s.Place)
		}
	}
	if s, ok := b.settings.values["dubbo.ssl.serverkeycertchainpath"]; ok && framework == dubbo {
		return state(plan.Security{}, s.Place) // whether that is enough depends on the version
	}
	if t.enabled != "" && b.isDecidedElsewhere(t.enabled) {
		return state(plan.Security{}, plan.Place{})
	}
	return nil
}

// enabled returns what the setting says that decides about TLS, and which variable or setting replaces it.
func (b *build) enabled(s setting, t tlsKeys) plan.Security {
	var says plan.Security
	switch strings.ToLower(s.text) {
	case "true":
		says = b.withCertificate(t)
	case "false":
		says.Transport = plan.Plaintext
	}
	says.Setting = s.decider()
	return says
}

// withCertificate returns TLS with what settings say of its certificates.
func (b *build) withCertificate(t tlsKeys) plan.Security {
	says := plan.Security{Transport: plan.TLS}
	says.Certificate = certificateFile(b.settings.text(t.certificate))
	switch mode := strings.ToUpper(b.settings.text(t.requires)); {
	case mode == "":
	case mode == "REQUIRE", mode == "REQUIRED", mode == "NEED", mode == "TRUE", t.requires == t.authority:
		says.Transport, says.Authority = plan.MutualTLS, certificateFile(b.settings.text(t.authority))
	}
	return says
}

// certificateFile returns the file with a certificate that a setting names: a Spring resource may begin with file:, and
// what lies on the class path, or in a key store, is no file that a probe can read.
func certificateFile(text string) string {
	if strings.HasPrefix(text, "classpath:") || strings.Contains(text, "${") {
		return ""
	}
	return strings.TrimPrefix(text, "file:")
}

// quarkusWebSecurity returns the security of Quarkus' web server. It keeps its port without TLS beside that with TLS,
// unless requests without TLS are refused.
func (b *build) quarkusWebSecurity(state func(plan.Security, plan.Place) []finding.Finding) []finding.Finding {
	if s, ok := b.settings.values["quarkus.http.insecurerequests"]; ok && !strings.EqualFold(s.text, "enabled") {
		return state(plan.Security{}, s.Place)
	}
	return nil
}

// armeriaPort returns the keys of the port by which Armeria's server, which takes gRPC on all of its ports, is reached
// most easily: the first one without TLS, or the first.
func (b *build) armeriaPort() serverKeys {
	keys := frameworkKeys[armeria]
	for i := range maxPorts {
		prefix := fmt.Sprintf("armeria.ports[%d].", i)
		if b.settings.text(prefix+"port") == "" {
			break
		}
		if transport, _, _ := b.armeriaTransport(prefix); transport == plan.Plaintext {
			keys.port, keys.host = prefix+"port", prefix+"address"
			break
		}
	}
	return keys
}

// maxPorts is how many ports of Armeria's server are looked at.
const maxPorts = 16

// armeriaTransport returns what the protocols of a port say, whose keys begin with a prefix, and where. One with
// several takes plaintext if any of them does. ok is false if none is set.
func (b *build) armeriaTransport(prefix string) (transport plan.Transport, at plan.Place, ok bool) {
	for key, s := range b.settings.all() {
		if !strings.HasPrefix(key, prefix+"protocol") {
			continue
		}
		switch strings.ToUpper(s.text) {
		case "HTTP":
			return plan.Plaintext, s.Place, true
		case "HTTPS":
			transport = plan.TLS
		}
		at, ok = s.Place, true
	}
	return transport, at, ok
}

// armeriaSecurity returns the security of one port of Armeria's server.
func (b *build) armeriaSecurity(
	keys serverKeys, state func(plan.Security, plan.Place) []finding.Finding,
) []finding.Finding {
	transport, at, ok := b.armeriaTransport(strings.TrimSuffix(keys.port, "port"))
	switch {
	case !ok:
		return nil
	case transport == plan.TLS:
		return state(b.withCertificate(keys.tls), at)
	}
	return state(plan.Security{Transport: transport}, at)
}
