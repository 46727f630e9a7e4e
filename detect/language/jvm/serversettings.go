package jvm

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// serverKeys are the settings of the frameworks that make the server, with the port that it listens on by default. They
// are those of the property classes in the sources of the frameworks, and of reference.conf in Play's.
var serverKeys = map[string]struct {
	health      string // the key that disables grpc.health.v1 if it is false; "" for none
	port        string // the key of the port
	defaultPort int    // address.UnknownPort where a server without the setting may listen on any
}{
	springGRPC: {"spring.grpc.server.health.enabled", "spring.grpc.server.port", 9090},
	netDevh:    {"grpc.server.healthserviceenabled", "grpc.server.port", 9090},
	logNet:     {"", "grpc.port", 6565},
	quarkus:    {"quarkus.grpc.server.grpchealth.enabled", "quarkus.grpc.server.port", 9000},
	micronaut:  {"grpc.server.health.enabled", "grpc.server.port", 50051},
	dubbo:      {"", dubboPort, 50051},
	playGRPC:   {"", "play.server.https.port", address.UnknownPort},
	helidon:    {"", "server.port", address.UnknownPort},
	armeria:    {"", "armeria.ports[0].port", address.UnknownPort},
}

// frameworkSettings returns a package with what the settings say of the server that the framework of a project makes:
// the port and whether grpc.health.v1 is disabled. It is nil where no framework makes one.
func (b *build) frameworkSettings(p *project) *analyzer.Package {
	server, ok := implied(p)
	keys, known := serverKeys[server.Framework]
	if !ok || !known {
		return nil
	}
	in := &analyzer.Package{Path: "settings of " + p.Dir}
	if keys.health != "" && b.settings.text(keys.health) == "false" {
		in.Findings = append(in.Findings, analyzer.Finding{Kind: analyzer.HealthDisabled})
	}
	port, defaultPort := keys.port, keys.defaultPort
	if other, otherDefault, ok := b.otherPort(server); ok {
		port, defaultPort = other, otherDefault
	}
	in.Findings = append(in.Findings, b.listener(port, defaultPort))
	return in
}

// implied returns the finding of the server of a project that a framework makes or configures. ok is false where the
// project makes its server by itself or has none.
func implied(p *project) (server analyzer.Finding, ok bool) {
	for _, in := range p.Packages {
		if f, ok := in.First(analyzer.ServerConstructed); ok {
			return f, f.Framework == helidon || f.Framework == armeria
		}
	}
	for _, in := range p.Packages {
		if f, ok := in.First(analyzer.ServiceRegistered, analyzer.ServiceImplemented); ok {
			return f, true
		}
	}
	return analyzer.Finding{}, false
}

// otherPort returns the key of the port, and its default, of a server whose port is not that of serverKeys. ok is true
// where that is so.
func (b *build) otherPort(server analyzer.Finding) (key string, defaultPort int, ok bool) {
	switch framework := server.Framework; {
	// The web server serves gRPC too.
	case framework == springGRPC && b.has(servletServer) &&
		b.settings.text("spring.grpc.server.servlet.enabled") != "false":
		return "server.port", 8080, true
	case framework == quarkus && b.settings.text("quarkus.grpc.server.useseparateserver") == "false":
		return "quarkus.http.port", 8080, true
	// Helidon 1 to 3, which register the health service, have a server for gRPC alone.
	case framework == helidon && server.AutomaticHealth:
		return "grpc.port", address.UnknownPort, true
	// Play serves HTTP/2 by TLS, and without it where the app asks for that.
	case framework == playGRPC && b.settings.text("play.server.https.port") == "":
		return "play.server.http.port", address.UnknownPort, true
	// An app with several ports serves gRPC on any of them.
	case framework == armeria && b.settings.text("armeria.ports[1].port") != "":
		return "", address.UnknownPort, true
	}
	return "", 0, false
}

// decidingElsewhere are what keys begin with that let the port be set in a place that is not read.
var decidingElsewhere = []string{
	"spring.cloud.config", "spring.config.import", "dubbo.protocols.", "spring.grpc.server.address",
}

// listener returns the port that a key has as its value. Where the key is not set, that is the default, if no settings
// that are not known can say otherwise.
func (b *build) listener(key string, defaultPort int) analyzer.Finding {
	f := analyzer.Finding{Kind: analyzer.Listener, Port: address.UnknownPort}
	if value, ok := b.settings.resolved(key); ok {
		f.Port, f.Place = address.ParsePort(value.text), value.Place
		return f
	}
	for other := range b.settings.values {
		if hasPrefixIn(other, decidingElsewhere) {
			return f
		}
	}
	if _, ok := b.profileSettings.values[key]; !ok && !b.settings.unread && !b.profileSettings.unread {
		f.Port = defaultPort
	}
	return f
}

// otherKey is a value that is the value of another key: ${server.port}.
var otherKey = regexp.MustCompile(`^\$\{([\w.-]+)\}$`)

// resolved returns the value of a key. Where that is the value of another key, it is the value of that one.
func (s *settings) resolved(key string) (value setting, ok bool) {
	for range maxReferences {
		value, ok = s.values[key]
		m := otherKey.FindStringSubmatch(value.text)
		if m == nil {
			return value, ok
		}
		if _, known := s.values[normalize(m[1])]; !known {
			return value, ok
		}
		key = normalize(m[1])
	}
	return setting{text: "", Place: plan.Place{}}, ok
}
