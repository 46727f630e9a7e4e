package jvm

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// serverKeys are the settings of the frameworks that make the server. They are those of the property classes in the
// sources of the frameworks, and of reference.conf in Play's.
var serverKeys = map[string]struct {
	health string // the key that disables grpc.health.v1 if it is false; "" for none
	port   string // the key of the port
}{
	springGRPC: {"spring.grpc.server.health.enabled", "spring.grpc.server.port"},
	netDevh:    {"grpc.server.healthserviceenabled", "grpc.server.port"},
	logNet:     {"", "grpc.port"},
	quarkus:    {"quarkus.grpc.server.grpchealth.enabled", "quarkus.grpc.server.port"},
	micronaut:  {"grpc.server.health.enabled", "grpc.server.port"},
	dubbo:      {"", dubboPort},
	playGRPC:   {"", "play.server.https.port"},
	helidon:    {"", "server.port"},
	armeria:    {"", "armeria.ports[0].port"},
}

// frameworkSettings returns what the settings say of the server that the framework of a project makes: the port and
// whether grpc.health.v1 is disabled. It is nil if no framework makes one.
func (b *build) frameworkSettings(p *project) []finding.Finding {
	framework, automaticHealth := implied(p)
	keys, known := serverKeys[framework]
	if !known {
		return nil
	}
	var found []finding.Finding
	if keys.health != "" && b.settings.text(keys.health) == "false" {
		found = append(found, finding.HealthDisabled{Site: &finding.Site{}})
	}
	listener := finding.ListenerAt(address.Value{})
	if key, port, ok := b.otherPort(framework, automaticHealth); ok {
		listener.Address.Port, listener.Address.Certainty = port, address.Default
		return append(found, b.listener(key, listener))
	}
	for byDefault := range finding.All[finding.Listener](analyzer.DefaultListener(frameworks, framework, 0)) {
		listener = byDefault
	}
	return append(found, b.listener(keys.port, listener))
}

// implied returns the framework of the server of a project that a framework makes or configures, and whether that
// registers grpc.health.v1. It is "" if the project makes its server by itself or has none.
func implied(p *project) (framework string, automaticHealth bool) {
	for f := range p.All() {
		if f, ok := f.(finding.Server); ok {
			if f.Framework == helidon || f.Framework == armeria {
				return f.Framework, f.AutomaticHealth
			}
			return "", false
		}
	}
	for _, in := range p.Packages {
		if f, ok := finding.First[finding.Registration](in.Findings); ok {
			return f.Framework, f.AutomaticHealth
		}
		if f, ok := finding.First[finding.Implementation](in.Findings); ok {
			return f.Framework, f.AutomaticHealth
		}
	}
	return "", false
}

// otherPort returns the key of the port, and its default or 0, of a server whose port is not that of serverKeys. ok is
// true if that is so.
func (b *build) otherPort(framework string, automaticHealth bool) (key string, port int, ok bool) {
	switch {
	// The web server serves gRPC too.
	case framework == springGRPC && b.has(servletServer) &&
		b.settings.text("spring.grpc.server.servlet.enabled") != "false":
		return "server.port", 8080, true
	case framework == quarkus && b.settings.text("quarkus.grpc.server.useseparateserver") == "false":
		return "quarkus.http.port", 8080, true
	// Helidon 1 to 3, which register the health service, have a server for gRPC alone.
	case framework == helidon && automaticHealth:
		return "grpc.port", 0, true
	// Play serves HTTP/2 by TLS, and without it if the app asks for that.
	case framework == playGRPC && b.settings.text("play.server.https.port") == "":
		return "play.server.http.port", 0, true
	// An app with several ports serves gRPC on any of them.
	case framework == armeria && b.settings.text("armeria.ports[1].port") != "":
		return "", 0, true
	}
	return "", 0, false
}

// decidingElsewhere are what keys begin with that let the port be set in a place that is not read.
var decidingElsewhere = []string{
	"spring.cloud.config", "spring.config.import", "dubbo.protocols.", "spring.grpc.server.address",
}

// listener returns the listener on the port that a key has as its value. If the key is not set, that is the one by
// default, if no settings that are not known can say otherwise.
func (b *build) listener(key string, byDefault finding.Listener) finding.Listener {
	if s, ok := b.settings.values[key]; ok {
		return finding.ListenerAt(s.value())
	}
	for other := range b.settings.values {
		if hasPrefixIn(other, decidingElsewhere) {
			return finding.ListenerAt(address.Value{})
		}
	}
	if _, ok := b.profileSettings.values[key]; !ok && !b.settings.unread && !b.profileSettings.unread {
		return byDefault
	}
	return finding.ListenerAt(address.Value{})
}
