package cpp

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// declarations match `#define PORT 50051`, `ABSL_FLAG(uint16_t, port, 50051, "");`, `DEFINE_int32(port, 50051, "");`,
// `int port = 50051;`, `const std::string address("0.0.0.0:50051");` and `stream << "0.0.0.0:" << port;`.
var declarations = []*lazyregexp.Regexp{
	lazyregexp.New(`#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+`),
	lazyregexp.New(`\b(?:ABSL_FLAG\s*\(\s*[\w:]+\s*,|DEFINE_\w+\s*\()\s*(?P<name>\w+)\s*,\s*`),
	lazyregexp.New(`\b(?P<name>\w+)(?:\[\w*\])?\s*=\s*`),
	lazyregexp.New(`[\w>:,]\s+(?P<name>\w+)\s*[({]\s*`),
	lazyregexp.New(`(?m)^[ \t]*(?P<name>\w+)\s*<<\s*`),
}

// configSection is the server's section in userver's static config
// (grpc/include/userver/ugrpc/server/server_component.hpp).
const configSection = "components_manager.components.grpc-server."

// analyzeStaticConfig returns what the server's section in userver's static config says. A value that begins with a
// dollar sign is a variable, whose name stands for it, with an environment variable and a default beside it
// (universal/include/userver/yaml_config/yaml_config.hpp).
func analyzeStaticConfig(text []byte) (*analyzer.Result[extra], error) {
	if !bytes.Contains(text, []byte("grpc-server")) {
		return nil, nil
	}
	documents, err := untrusted.ReadYAML(text)
	for _, document := range documents {
		if found := configured(document); found != nil {
			return &analyzer.Result[extra]{Findings: found}, err
		}
	}
	return nil, err
}

// configured returns the listener and the security that a document states.
func configured(document untrusted.Document) []finding.Finding {
	var found []finding.Finding
	if path, ok := document.Get(configSection + "unix-socket-path"); ok {
		v := address.Setting("unix:"+path.Value, path.Line)
		if strings.HasPrefix(path.Value, "$") {
			v.Address = address.Address{Host: address.UnixSocket, Place: v.Place}
		}
		found = append(found, finding.ListenerAt(v))
	} else if port, ok := document.Get(configSection + "port"); ok {
		found = append(found, finding.ListenerAt(configuredPort(document, port)))
	}
	if certificate, ok := document.Get(configSection + "tls.cert"); ok {
		says := plan.Security{Transport: plan.TLS}
		if !strings.HasPrefix(certificate.Value, "$") {
			says.Certificate = certificate.Value
		}
		// Whether the authority makes the server require a client certificate depends on userver's version.
		if _, ok := document.Get(configSection + "tls.ca"); ok {
			says = plan.Security{}
		}
		found = append(found, finding.SecurityAt(certificate.Line, says))
	}
	return found
}

// configuredPort returns the port of a setting, or the default beside a variable.
func configuredPort(document untrusted.Document, port untrusted.Setting) address.Value {
	if !strings.HasPrefix(port.Value, "$") {
		return address.Setting(port.Value, port.Line)
	}
	v := address.Setting("", port.Line)
	if fallback, ok := document.Get(configSection + "port#fallback"); ok {
		v = address.Setting(fallback.Value, fallback.Line)
	}
	v.Certainty, v.Outside = min(v.Certainty, address.Default), true
	if env, ok := document.Get(configSection + "port#env"); ok {
		v.Variable = env.Value
	}
	return v
}
