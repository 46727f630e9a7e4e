package execprobe

import (
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// labelSchema is the version of the label's format. An added key does not change the version.
const labelSchema = 1

// Label is the part of the image's label known before the installation (docs/label.schema.json).
type Label struct {
	Schema   int      `json:"schema"`
	Path     string   `json:"path"`
	Args     []string `json:"args"`
	Language string   `json:"language"`
	Health   string   `json:"health"`
	// Port is the port in the app's source.
	Port int `json:"port,omitempty"`
	// Servers are the servers of the app, the probe's server first.
	Servers []LabelServer `json:"servers,omitempty"`
	// Exec is the exec probe in the log.
	Exec Probe `json:"exec"`
	// Liveness is the exec probe for liveness in the log, nil for none.
	Liveness *Probe `json:"liveness,omitempty"`
	// Probes are the probes in the log, as objects of Kubernetes. Labels of older images have none.
	Probes *LabelProbes `json:"probes,omitempty"`
}

// LabelServer holds the known facts about a server, and leaves out the unknown.
type LabelServer struct {
	Language  string `json:"language"`
	Framework string `json:"framework"`
	Evidence  string `json:"evidence"`
	Health    string `json:"health"`
	// HealthService is the service to ask for, or several with commas between, if the app sets no status of the
	// whole server.
	HealthService string `json:"healthService,omitempty"`
	// LivenessService is the service for the liveness of the server.
	LivenessService string `json:"livenessService,omitempty"`
	// HealthServiceUnknown says that the app sets statuses of services with unknown names.
	HealthServiceUnknown bool `json:"healthServiceUnknown,omitempty"`
	// Address is the address in the container, in the form of -addr, and AddressVariable the environment variable in
	// place of the address.
	Address         string `json:"address,omitempty"`
	AddressVariable string `json:"addressVariable,omitempty"`
	// Security is the calls' transport, as far as the source says.
	Security string `json:"security,omitempty"`
	// Probes are nil if the address is not known before the app runs, unless the image's probe is for the server.
	Probes *LabelProbes `json:"probes,omitempty"`
}

// LabelProbes are the probes of a server by their kinds.
type LabelProbes struct {
	Exec Probes `json:"exec"`
	// GRPC are Kubernetes' own probes, nil if these cannot replace the exec probes.
	GRPC *Probes `json:"grpc,omitempty"`
	// Bridge are the probes for the bridge, nil for a server that the bridge does not ask.
	Bridge *BridgeProbes `json:"bridge,omitempty"`
}

// BridgeProbes is the bridge's part of a manifest.
type BridgeProbes struct {
	Readiness Object `json:"readinessProbe"`
	Liveness  Object `json:"livenessProbe"`
	// Env are the variables of the app's container, and InitContainer is the sidecar with the app's image.
	Env           []Variable `json:"env,omitempty"`
	InitContainer *Sidecar   `json:"initContainer,omitempty"`
	Remarks       []string   `json:"remarks,omitempty"`
}

// Variable is an environment variable of a container.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Sidecar is a container that runs as long as the app's.
type Sidecar struct {
	Name          string   `json:"name"`
	RestartPolicy string   `json:"restartPolicy"`
	Command       []string `json:"command"`
}

// NewLabel describes an exec probe, the default flags in the image, and the servers. The values of header flags are
// hidden.
func NewLabel(exec Probe, args []string, servers plan.Servers) Label {
	lead := servers.Lead()
	return Label{
		Schema:   labelSchema,
		Path:     exec.Command[0],
		Args:     append([]string{}, flags.RedactArgs(args)...), // a list in JSON, even if empty
		Language: lead.Language,
		Health:   string(lead.Health),
		Port:     lead.Address.Local(),
		Servers:  labelServers(servers, exec),
		Exec:     exec,
		Liveness: exec.Liveness(),
		Probes:   probesOf(exec),
	}
}

// labelServers describes servers, with the probe's server among them.
func labelServers(servers plan.Servers, exec Probe) []LabelServer {
	var all []LabelServer
	for _, s := range servers.Listed {
		described := LabelServer{
			Language: s.Language, Framework: s.Framework, Evidence: s.Evidence.String(), Health: string(s.Health),
			HealthService: s.Service, LivenessService: s.Liveness, HealthServiceUnknown: s.IsServiceUnknown,
			Address: s.Address.Target(), AddressVariable: s.Address.Variable,
			Security: string(s.Security.Transport),
		}
		if exec, isKnown := exec.For(s); isKnown {
			described.Probes = probesOf(exec)
		}
		all = append(all, described)
	}
	return all
}

func probesOf(exec Probe) *LabelProbes { return &LabelProbes{Exec: exec.Exec(), GRPC: exec.Native()} }
