package analyzer

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Framework is one way to serve gRPC in a language: all that is known of it, beside the patterns that find it. The
// table in docs/languages.md is made from these.
type Framework struct {
	Name     string // in the build plan and for users: "grpc-go"
	Evidence string // what proves a server, for users, in Markdown: "`grpc.NewServer`"
	// Health says what registers grpc.health.v1, for users. It begins with [Nobody] if a server of the framework cannot
	// have it.
	Health string
	// Service is the only service whose health the framework tells, "" for the server's own, the service "".
	Service string
	Advice  string // what to write into a server to have the health service, fit to be pasted
	// Keywords are the words of the pre-filter: a source with evidence of the framework has one of them, and most
	// sources have none.
	Keywords []string
	// Port is where a server listens if nothing says so.
	Port DefaultPort
	// ExplicitCredentials says that each server is given its credentials, also those without TLS, so that the transport
	// of one of which none are seen is not known.
	ExplicitCredentials bool
	// Settings says where the framework is configured, for people, in Markdown: "`grpc.server.port` in
	// `application.yml`"; "" for code alone.
	Settings string
	// SpeaksFirst says that a server without TLS sends its SETTINGS before its client has sent anything, with all
	// options of the framework. Measured: grpc-go, grpc-java, gRPC's C core (Python, Ruby), Node's http2. By the
	// source: Dart's http2 (lib/src/connection.dart), grpclib (grpclib/protocol.py). A server of net/http waits for its
	// client.
	SpeaksFirst bool
}

// Nobody is how the Health of a framework begins with which nobody can register the health service.
const Nobody = "nobody"

// hasHealth reports whether a server of the framework can have the health service.
func (f Framework) hasHealth() bool { return !strings.HasPrefix(f.Health, Nobody) }

// DefaultPort is a port that a framework gives a server. The zero value stands for none.
type DefaultPort struct {
	Number int
	Host   plan.Host // on which host, if the framework says so
	Source string    // the file of the framework that says so
}

// Keywords returns the pre-filter of a language: the keywords of frameworks, and further words that belong to none.
func Keywords(frameworks []Framework, further ...string) source.Keywords {
	var all []string
	for _, f := range frameworks {
		all = append(all, f.Keywords...)
	}
	all = append(all, further...)
	slices.Sort(all)
	return source.NewKeywords(slices.Compact(all)...)
}

// DefaultListener returns the listener of a server of a framework, at a line that makes the server and names no port.
// It is nil for a framework without a default.
func DefaultListener(frameworks []Framework, name string, line int) []finding.Finding {
	for _, f := range frameworks {
		if f.Name == name && f.Port.Number != 0 {
			a := plan.Address{Host: f.Port.Host, Port: f.Port.Number, Certainty: plan.Default}
			a.Place.Line = line
			return []finding.Finding{finding.Listens(a, "")}
		}
	}
	return nil
}

// AddDefaultListeners adds the default ports of the frameworks to a project that says nothing of where it listens.
func AddDefaultListeners[T any](frameworks []Framework, p *Project[T]) {
	if ProjectHas[finding.Listener](p) {
		return
	}
	for _, in := range p.Packages {
		for _, f := range in.Findings {
			if l := DefaultListener(frameworks, finding.FrameworkOf(f), finding.Where(f).Line); l != nil {
				finding.Locate(l, finding.Where(f).Path)
				in.Findings = append(in.Findings, l...)
				break
			}
		}
	}
}
