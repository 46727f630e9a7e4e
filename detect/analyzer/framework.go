package analyzer

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Framework is one way to serve gRPC in a language, with all facts but the patterns. The table in docs/languages.md is
// made from frameworks.
type Framework struct {
	Name     string // in the build plan and for users: "grpc-go"
	Evidence string // the proof of a server, for users, in Markdown: "`grpc.NewServer`"
	// Health says for users how grpc.health.v1 is registered. The text begins with [Nobody] if a server of the
	// framework cannot have the health service.
	Health string
	// Service is the only service with a health status from the framework, "" for the whole server.
	Service string
	Advice  string // code to paste into a server for the health service
	// Keywords are the words of the pre-filter: a source with evidence of the framework has one of them, and most
	// sources have none.
	Keywords []string
	// Port is the port of a server without a stated port.
	Port DefaultPort
	// ExplicitCredentials says that each server needs credentials, even without TLS. The transport of a server without
	// visible credentials is then unknown.
	ExplicitCredentials bool
	// Settings names the setting of the address for users, in Markdown, such as "`grpc.server.port` in
	// `application.yml`"; "" if only code sets the address.
	Settings string
	// SpeaksFirst says that a server without TLS sends its SETTINGS before any byte from the client, with all options
	// of the framework. Measured: grpc-go, grpc-java, gRPC's C core (Python, Ruby), Node's http2. By the source: Dart's
	// http2 (lib/src/connection.dart), grpclib (grpclib/protocol.py). A server of net/http waits for its client.
	SpeaksFirst bool
}

// Nobody begins the Health of a framework without a way to register the health service.
const Nobody = "nobody"

func (f Framework) hasHealth() bool { return !strings.HasPrefix(f.Health, Nobody) }

// DefaultPort is the default port of a framework's servers. The zero value stands for none.
type DefaultPort struct {
	Number int
	Host   plan.Host // the host, if the framework sets a host
	Source string    // the file of the framework with the port
}

// Keywords returns the pre-filter of a language: the keywords of frameworks, and further words without a framework.
func Keywords(frameworks []Framework, further ...string) source.Keywords {
	var all []string
	for _, f := range frameworks {
		all = append(all, f.Keywords...)
	}
	all = append(all, further...)
	slices.Sort(all)
	return source.NewKeywords(slices.Compact(all)...)
}

// DefaultListener returns the listener of a framework's server, at a line that makes the server without a port. The
// result is nil for a framework without a default.
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

// AddDefaultListeners adds the default ports of the frameworks to a project without listeners.
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
