package build

import (
	"encoding/json"
	"fmt"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// labelKey is the key of the image label that says which probe an image has and where, for policies and tools.
const labelKey = "io.github.grpc-cnb.health-probe"

// labelSchema is the version of the label's format. A key that is added does not change it.
const labelSchema = 1

// label is the JSON value of the image label, which docs/label.schema.json describes.
type label struct {
	Schema   int      `json:"schema"`
	Path     string   `json:"path"`
	Version  string   `json:"version"`
	Source   string   `json:"source"`
	Variant  string   `json:"variant"`
	SHA256   string   `json:"sha256"`
	Args     []string `json:"args"`
	Language string   `json:"language"`
	Health   string   `json:"health"`
	// Port is the port that the app's source states.
	Port int `json:"port,omitempty"`
	// Servers are the servers of the app, the one that the probe is for first.
	Servers []labelServer `json:"servers,omitempty"`
	// Exec is the exec probe that the log prints.
	Exec execprobe.Probe `json:"exec"`
	// Liveness is the exec probe for liveness that the log prints beside it, nil for none.
	Liveness *execprobe.Probe `json:"liveness,omitempty"`
	// Probes are the probes that the log prints, as objects of Kubernetes. Labels of older images have none.
	Probes *labelProbes `json:"probes,omitempty"`
	// Bridge is nil if no bridge is installed.
	Bridge *bridge `json:"bridge,omitempty"`
	// Download is nil for a probe that was not downloaded.
	Download *labelDownload `json:"download,omitempty"`
}

// labelServer is what is known of a server. What is not known is left out.
type labelServer struct {
	Language  string `json:"language"`
	Framework string `json:"framework"`
	Evidence  string `json:"evidence"`
	Health    string `json:"health"`
	// HealthService is the service to ask for, or several with commas between them, if the app sets no status of the
	// whole server.
	HealthService string `json:"healthService,omitempty"`
	// LivenessService is the service whose status says whether the server is alive.
	LivenessService string `json:"livenessService,omitempty"`
	// HealthServiceUnknown says that the services whose statuses the app sets are not known by name.
	HealthServiceUnknown bool `json:"healthServiceUnknown,omitempty"`
	// Address is the address in the container, as -addr takes it, and AddressVariable the environment variable that
	// replaces it.
	Address         string `json:"address,omitempty"`
	AddressVariable string `json:"addressVariable,omitempty"`
	// Security is what carries the calls, as far as the source says.
	Security string `json:"security,omitempty"`
	// Probes are nil if the address is not known before the app runs, unless the image's probe is for the server.
	Probes *labelProbes `json:"probes,omitempty"`
}

// labelProbes are the probes of a server by their kinds.
type labelProbes struct {
	Exec execprobe.Probes `json:"exec"`
	// GRPC are Kubernetes' own, nil if they cannot ask what the exec probes ask.
	GRPC *execprobe.Probes `json:"grpc,omitempty"`
	// Bridge are those that the bridge answers, nil for another server than the one that it asks.
	Bridge *bridgeProbes `json:"bridge,omitempty"`
}

// probesOf returns the probes of a server for the label.
func probesOf(exec execprobe.Probe) *labelProbes {
	return &labelProbes{Exec: exec.Exec(), GRPC: exec.Native()}
}

// labelServers describes servers, one of which the image's probe is for.
func labelServers(servers plan.Servers, exec execprobe.Probe) []labelServer {
	var all []labelServer
	for _, s := range servers.Listed {
		described := labelServer{
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

// labelDownload says which file of a release was downloaded, and by which digest it was verified. The program may have
// another digest, if the file was an archive.
type labelDownload struct {
	Repo       string `json:"repo"`
	Asset      string `json:"asset"`
	Tag        string `json:"tag"`
	SHA256     string `json:"sha256"`
	SHA256From string `json:"sha256From"`
	Immutable  bool   `json:"immutable"`
}

// labelDownloadOf describes the download of a program, nil for a program that was not downloaded.
func labelDownloadOf(p program) *labelDownload {
	if p.downloaded == nil {
		return nil
	}
	a := p.downloaded.ResolvedAsset
	return &labelDownload{
		Repo: a.Repo, Asset: a.Asset, Tag: a.Tag, SHA256: a.SHA256, SHA256From: a.SHA256From,
		Immutable: a.Immutable,
	}
}

// imageLabel returns the label for a program with its default flags, for its exec probe and for a bridge beside it. The
// values of header flags are hidden.
func imageLabel(
	exec execprobe.Probe, bridge *bridge, p program, args []string, servers plan.Servers,
) (libcnb.Label, error) {
	probes := probesOf(exec)
	probes.Bridge = bridge.probes()
	value, err := json.Marshal(label{
		Schema:   labelSchema,
		Path:     exec.Command[0],
		Version:  p.version,
		Source:   p.source,
		Variant:  p.variant,
		SHA256:   p.sha256,
		Args:     append([]string{}, flags.RedactArgs(args)...), // a list in JSON, also if there are none
		Language: servers.Lead().Language,
		Health:   string(servers.Lead().Health),
		Port:     servers.Lead().Address.Local(),
		Servers:  labelServers(servers, exec),
		Exec:     exec,
		Liveness: exec.Liveness(),
		Probes:   probes,
		Bridge:   bridge,
		Download: labelDownloadOf(p),
	})
	if err != nil {
		return libcnb.Label{}, fmt.Errorf("writing the image label: %w", err)
	}
	return libcnb.Label{Key: labelKey, Value: string(value)}, nil
}
