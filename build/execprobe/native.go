package execprobe

import (
	"fmt"
	"net/netip"
	"reflect"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
)

// nativeEquivalent returns the port and the service of a gRPC probe of Kubernetes equivalent to o, or the part of o
// that such a probe cannot do. Such a probe makes one call in plain text, to a port of the pod, for one service, and
// has no flags except a timeout. The port is 0 if it is unknown before the app runs.
func nativeEquivalent(o options.Options) (port int, service, cannot string) {
	plain := options.New()
	plain.Addr, plain.Address, plain.Services, plain.WantsCert = o.Addr, o.Address, o.Services, o.WantsCert
	plain.Budget, plain.Search = o.Budget, o.Search
	plain.Budget.Wait = 0
	switch {
	case o.TLS || o.ALTS || o.SPIFFE:
		return 0, "", "verify a server with TLS"
	case len(o.Services) > 1:
		return 0, "", "ask for several services"
	case len(o.Services) != 1 || !reflect.DeepEqual(o, plain):
		return 0, "", "ask what $" + config.ArgsEnv + " says"
	}
	for _, endpoint := range o.Address.Endpoints {
		switch endpoint := endpoint.(type) {
		case address.UnixEndpoint:
			return 0, "", "reach a Unix domain socket"
		case address.IPEndpoint:
			if at := netip.AddrPort(endpoint); at.Addr().IsLoopback() {
				port = int(at.Port())
				continue
			}
		}
		return 0, "", "ask another host"
	}
	return port, o.Services[0], ""
}

// native returns the gRPC probe of Kubernetes equivalent to the exec probe, or the part that such a probe cannot do.
// Both are zero if the answer is unknown, or if the server has no health service. The probe has a timeout if the
// default flags have one: the kubelet needs no second to start a gRPC probe, unlike a command.
func (p Probe) native() (probe *Object, cannot string) {
	if p.given.Server.Health == plan.HealthMissing || p.given.Server.Language == "" {
		return nil, ""
	}
	port, service, cannot := nativeEquivalent(p.asks)
	if p.given.Server.Security.IsTLS() {
		cannot = "verify a server with TLS"
	}
	if port != 0 && p.given.Server.Address.Host == plan.Loopback {
		cannot = "reach a server that listens on loopback alone"
	}
	if cannot != "" || port == 0 {
		return nil, cannot
	}
	probe = &Object{GRPC: &GRPCAction{Port: port, Service: service}}
	standard := options.New().Budget
	standard.SearchTimeout = p.asks.Budget.SearchTimeout
	if p.asks.Budget != standard {
		probe.TimeoutSeconds = p.TimeoutSeconds - 1
	}
	return probe, ""
}

// alternative says how the kubelet can probe by itself, or why only the bridge can; "" if unknown.
func (p Probe) alternative(hasBridge bool) string {
	native, cannot := p.native()
	switch {
	case native != nil:
		return "Or: " + p.kind() + ": " + native.String() + comment(append([]string{price}, p.nativeRemarks()...))
	case cannot == "", hasBridge, !p.suitsBridge:
		return ""
	}
	return fmt.Sprintf("Kubernetes' own gRPC probe cannot %s; the bridge can (%s): build with %s=%s", cannot,
		price, config.BridgeEnv, config.BridgeLaunch)
}

// nativeRemarks returns what to set in the gRPC probe of Kubernetes, or what must be true.
func (p Probe) nativeRemarks() []string {
	var sets []string
	if a := p.given.Server.Address; !p.given.Defaults.HasAddress && a.Variable != "" {
		sets = append(sets, fmt.Sprintf("if $%s is set, use its port", a.Variable))
	}
	if p.given.Server.Address.Host != plan.AllInterfaces {
		sets = append(sets, "only if the server listens on all interfaces")
	}
	if p.given.Server.Security.Transport == plan.UnknownTransport {
		sets = append(sets, "only if the server has no TLS")
	}
	if p.lacksService {
		sets = append(sets, "add service: NAME")
	}
	return sets
}
