package jvm

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
)

// frameworkSettings returns what the settings say of the server that the framework of a project makes: the address, the
// security and whether grpc.health.v1 is disabled. It is nil if no framework makes one.
func (b *build) frameworkSettings(p *project) []finding.Finding {
	framework, automaticHealth := implied(p)
	keys, known := frameworkKeys[framework]
	if !known {
		return nil
	}
	var found []finding.Finding
	if slices.ContainsFunc(keys.health, b.settings.have) {
		found = append(found, finding.HealthDisabled{Site: &finding.Site{}})
	}
	byDefault := 0
	for l := range finding.All[finding.Listener](analyzer.DefaultListener(frameworks, framework, 0)) {
		byDefault = l.Address.Port
	}
	if port, ok := b.servesByWebServer(framework, automaticHealth); ok {
		health := keys.health
		keys, byDefault = webKeys[framework], port
		keys.health = health
	}
	if framework == armeria {
		keys = b.armeriaPort()
	}
	l := b.listener(keys, byDefault)
	l.Address.Givers = append(settingGivers(keys.port), settingGivers(keys.host)...)
	return append(append(found, l), b.security(framework, keys)...)
}

// isOff reports whether settings tell a framework to make no server. They do not if a profile may say otherwise.
func (b *build) isOff(framework string) bool {
	off := frameworkKeys[framework].off
	key, _, _ := strings.Cut(off, "=")
	return off != "" && b.settings.have(off) && !b.isDecidedElsewhere(key)
}

// implied returns the framework of the server of a project that a framework makes or configures, and whether that
// registers grpc.health.v1. It is "" if the project makes its server by itself or has none, or if several frameworks
// make one.
func implied(p *project) (framework string, automaticHealth bool) {
	framework, automaticHealth = served(p)
	for f := range p.All() {
		if f, ok := f.(finding.Server); ok {
			isOne := framework == "" || framework == f.Framework
			if isOne && (f.Framework == helidon || f.Framework == armeria) {
				return f.Framework, f.AutomaticHealth
			}
			return "", false
		}
	}
	return framework, automaticHealth
}

// served returns the framework that serves what a project implements or registers, and whether that registers
// grpc.health.v1.
func served(p *project) (framework string, automaticHealth bool) {
	for _, in := range p.Packages {
		if f, ok := finding.First[finding.Registration](in.Findings); ok {
			return f.Framework, f.AutomaticHealth
		}
		for f := range finding.All[finding.Implementation](in.Findings) {
			if f.Served {
				return f.Framework, f.AutomaticHealth
			}
		}
	}
	return "", false
}

// servesByWebServer returns the default port, or 0, of a web server that serves gRPC instead of a server of its own.
func (b *build) servesByWebServer(framework string, automaticHealth bool) (port int, ok bool) {
	switch {
	case framework == springGRPC && b.has(servletServer) &&
		b.settings.text("spring.grpc.server.servlet.enabled") != "false":
		return 8080, true
	case framework == quarkus && b.settings.text("quarkus.grpc.server.useseparateserver") == "false":
		return 8080, true
	// Helidon 1 to 3, which register the health service, have a server for gRPC alone.
	case framework == helidon && automaticHealth:
		return 0, true
	// Play serves HTTP/2 by TLS, and without it if the app asks for that.
	case framework == playGRPC && b.settings.text("play.server.https.port") == "":
		return 0, true
	}
	return 0, false
}

// decidingElsewhere are what keys begin with that let settings be in a place that is not read.
var decidingElsewhere = []string{
	"spring.cloud.config", "spring.cloud.nacos.config", "spring.cloud.consul.config", "spring.cloud.zookeeper.config",
	"spring.cloud.kubernetes.config", "spring.cloud.azure.appconfiguration", "spring.config.import", "apollo.",
	"nacos.config", "quarkus.config.locations", "quarkus.consulconfig", "quarkus.springcloudconfig",
	"micronaut.configclient", "dubbo.protocols.", "dubbo.configcenter",
}

// isDecidedElsewhere reports whether settings that are not known can say something of the one with a key.
func (b *build) isDecidedElsewhere(key string) bool {
	for other := range b.settings.values {
		if hasPrefixIn(other, decidingElsewhere) {
			return true
		}
	}
	for other := range b.otherSettings.values {
		if strings.HasPrefix(other, "spring.config.") {
			return true
		}
	}
	_, inProfile := b.profileSettings.values[key]
	_, inOther := b.otherSettings.values[key]
	return b.has(remoteSettings) || inProfile || inOther || b.settings.unread || b.profileSettings.unread
}

// otherAddresses are settings that stand before those of host and port, with both of them or with a socket.
var otherAddresses = map[string]string{
	"spring.grpc.server.port": "spring.grpc.server.netty.domainsocketpath",
}

// listener returns the listener on the address that settings name. A port that is not set is the one by default, if no
// settings that are not known can say otherwise.
func (b *build) listener(keys serverKeys, byDefault int) finding.Listener {
	if path, ok := b.settings.values[otherAddresses[keys.port]]; ok {
		return finding.ListenerAt(socketAt(path, "unix:"+path.text))
	}
	host, hasHost := b.settings.values[keys.host]
	if old, ok := b.settings.values["spring.grpc.server.address"]; ok && keys.port == "spring.grpc.server.port" {
		host, hasHost = old, true
	}
	if hasHost && strings.HasPrefix(host.text, "unix:") {
		return finding.ListenerAt(socketAt(host, host.text))
	}
	v, isSet := address.Value{}, false
	if s, ok := b.settings.values[keys.port]; ok {
		v, isSet = s.value(), true
	}
	// An address with a port stands before a port.
	if both := host.value(); hasHost && both.Certainty != address.Unknown {
		return finding.ListenerAt(both)
	}
	if !isSet && !b.isDecidedElsewhere(keys.port) && byDefault != 0 {
		v.Port, v.Certainty = byDefault, address.Default
	}
	if v.Host = address.AllInterfaces; hasHost {
		v.Host = address.HostOf(host.text)
	} else if _, inProfile := b.profileSettings.values[keys.host]; inProfile {
		v.Host = address.UnknownHost
	}
	return finding.ListenerAt(v)
}

// socketAt returns the value of a setting that is a Unix domain socket.
func socketAt(s setting, socket string) address.Value {
	v := s.value()
	v.Address = address.Address{Host: address.UnixSocket, Socket: socket, Certainty: address.Written, Place: s.Place}
	return v
}
