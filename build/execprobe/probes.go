package execprobe

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Probes are the probes of one kind for a container, as in the image's label.
type Probes struct {
	Readiness Object  `json:"readinessProbe"`
	Liveness  *Object `json:"livenessProbe,omitempty"`
	// Remarks tell users what to set in the probes, or what must be true for the probes to pass.
	Remarks []string `json:"remarks,omitempty"`
}

// Object is a probe as an object of Kubernetes.
type Object struct {
	Exec           *ExecAction `json:"exec,omitempty"`
	GRPC           *GRPCAction `json:"grpc,omitempty"`
	TimeoutSeconds int         `json:"timeoutSeconds,omitempty"`
}

// ExecAction is the command of a probe.
type ExecAction struct {
	Command []string `json:"command"`
}

// GRPCAction is a health check by the kubelet itself.
type GRPCAction struct {
	Port    int    `json:"port"`
	Service string `json:"service,omitempty"`
}

// String returns the probe on one line of YAML.
func (o Object) String() string {
	var parts []string
	if o.Exec != nil {
		parts = append(parts, fmt.Sprintf("exec: {command: [%s]}", Quoted(o.Exec.Command)))
	}
	if o.GRPC != nil {
		service := ""
		switch {
		case o.GRPC.Service == "":
		case plan.IsServiceName(o.GRPC.Service):
			service = ", service: " + o.GRPC.Service
		default:
			service = ", service: " + strconv.Quote(o.GRPC.Service)
		}
		parts = append(parts, fmt.Sprintf("grpc: {port: %d%s}", o.GRPC.Port, service))
	}
	if o.TimeoutSeconds != 0 {
		parts = append(parts, fmt.Sprintf("timeoutSeconds: %d", o.TimeoutSeconds))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (p Probe) object() Object {
	return Object{Exec: &ExecAction{Command: p.Command}, TimeoutSeconds: p.TimeoutSeconds}
}

// Exec returns the exec probes.
func (p Probe) Exec() Probes {
	all := Probes{Readiness: p.object(), Remarks: p.serverFlags(p.searches).remarks}
	if p.liveness != nil {
		liveness := p.liveness.object()
		all.Liveness = &liveness
	}
	return all
}

// Native returns the gRPC probes of Kubernetes equivalent to the exec probes, nil for none.
func (p Probe) Native() *Probes {
	readiness, _ := p.native()
	if readiness == nil {
		return nil
	}
	all := Probes{Readiness: *readiness, Remarks: p.nativeRemarks()}
	if p.liveness != nil {
		all.Liveness, _ = p.liveness.native()
	}
	return &all
}

// For returns the probe for a server of the image. For a server other than p's, the probe has the address in the
// source, and For reports false if the source has none.
func (p Probe) For(server plan.Server) (Probe, bool) {
	g := p.given
	if server.Evidence == g.Server.Evidence && server.Address == g.Server.Address {
		return p, true
	}
	g.Server = server
	g.ReadsAddress, g.Defaults.HasAddress, g.Defaults.Searches = false, false, false
	return New(g), server.Address.Target() != ""
}
