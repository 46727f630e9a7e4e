package golang

import (
	"cmp"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// The module fxgrpcserver of yokai makes a server of grpc-go for the services that an app provides. Settings decide on
// its address and on the health service, and options of the app, or a factory that takes the place of yokai's, on TLS
// (fxgrpcserver/module.go).
var (
	yokai        = source.Exactly(`github\.com/ankorstore/yokai/fxgrpcserver`)
	yokaiOption  = source.Exactly(`AsGrpcServerOptions?`)
	yokaiFactory = source.Exactly(`github\.com/ankorstore/yokai/grpcserver`)
)

// The settings of that server. Each may come from an environment variable of its name (config/factory.go).
const (
	yokaiSettings = "modules.grpc.server."
	yokaiAddress  = yokaiSettings + "address"
	yokaiHealth   = yokaiSettings + "healthcheck.enabled"
	yokaiVariable = "MODULES_GRPC_SERVER_ADDRESS"
	// yokaiPort is where it listens if the settings do not say so.
	yokaiPort = 50051
)

// yokaiServer is the registration of a service with that server.
type yokaiServer struct{ *finding.Site }

// yokaiSecured is what may give that server credentials.
type yokaiSecured struct{ *finding.Site }

// yokaiHealthy is a setting that makes that server register the health service.
type yokaiHealthy struct{ *finding.Site }

// visitYokai adds what a name of yokai is.
func (p *pass) visitYokai(at *finding.Site, importPath, name string) {
	switch isModule := yokai.MatchString(importPath); {
	case isModule && name == "AsGrpcServerService":
		p.add(yokaiServer{at})
	case isModule && yokaiOption.MatchString(name), yokaiFactory.MatchString(importPath):
		p.add(yokaiSecured{at})
	}
}

// yokaiFinds returns what the settings say of the server: those in config.yaml and, for an environment of the app, in
// config.prod.yaml, in one of the folders where yokai looks for them. Those for tests say nothing.
func yokaiFinds(file string, documents []untrusted.Document) []finding.Finding {
	name, environment, _ := strings.Cut(strings.TrimSuffix(path.Base(file), path.Ext(file)), ".")
	switch path.Base(path.Dir(file)) {
	case ".", "config", "configs":
	default:
		return nil
	}
	if name != "config" || environment == "test" {
		return nil
	}
	var found []finding.Finding
	for _, document := range documents {
		if stated, ok := document.Get(yokaiAddress); ok && stated.Value != "" {
			a := addressOf(withDefault(stated))
			a.Variable = cmp.Or(a.Variable, yokaiVariable)
			if a.Certainty != address.Unknown {
				a.Certainty = address.Default
			}
			found = append(found, finding.ListenerAt(a))
		} else if first, ok := firstBelow(document, yokaiSettings); ok && environment == "" {
			a := address.Address{Port: yokaiPort, Certainty: address.Default, Variable: yokaiVariable}
			a.Place.Line = first.Line
			found = append(found, finding.ListenerAt(address.Value{Address: a}))
		}
		if s, ok := document.Get(yokaiHealth); ok && s.Value == "true" {
			found = append(found, yokaiHealthy{finding.AtLine(s.Line, yokaiHealth)})
		}
	}
	return found
}

// firstBelow returns the first setting whose key begins with a prefix.
func firstBelow(document untrusted.Document, prefix string) (untrusted.Setting, bool) {
	for _, s := range document {
		if strings.HasPrefix(s.Key, prefix) {
			return s, true
		}
	}
	return untrusted.Setting{}, false
}

// yokaiSays are what a project says of the server that yokai makes.
type yokaiSays struct{ healthy, secured *finding.Site }

func newYokaiSays(p *project) yokaiSays {
	var says yokaiSays
	for _, in := range p.Packages {
		if f, ok := finding.First[yokaiHealthy](in.Findings); ok {
			says.healthy = f.Site
		}
		if f, ok := finding.First[yokaiSecured](in.Findings); ok {
			says.secured = f.Site
		}
	}
	return says
}

// of returns the health service and the security of the server that a service is registered with. Without a setting it
// is not known whether it has the one, and without options it has none of the other.
func (s yokaiSays) of(f yokaiServer) []finding.Finding {
	health := finding.Health{Site: f.AsUnsure()}
	if s.healthy != nil {
		health.Site = s.healthy
	}
	security := finding.Security{Site: f.Site, Says: plan.Security{Transport: plan.Plaintext}}
	if s.secured != nil {
		security.Says = plan.Security{Place: s.secured.Place}
	}
	return []finding.Finding{health, security}
}
