// Package execprobe describes the probe for a server, for the build's log (users paste it) and for the image's label.
// From the probe's default flags and detection's knowledge of the server, execprobe derives a command, its missing
// flags, and the alternatives in Kubernetes.
//
// Begin with [New], then [Probe.Report].
package execprobe

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// The path for users' pods never changes: the layer's name in the builder's folder for the buildpack's layers (platform
// spec, Layers), and the program's name in the layer's folder bin.
const (
	LayerName   = "probe"
	ProgramName = "grpc_health_probe"
	ImagePath   = "/layers/grpc-cnb_health-probe/" + LayerName + "/bin/" + ProgramName
)

// Given is the known facts about a program and about the server to probe.
type Given struct {
	// Path is the program's path.
	Path string
	// Flags are the default flags, and Defaults their consequences.
	Flags    []string
	Defaults flags.Defaults
	// Args are the flags for each exec probe of a program without default flags.
	Args   []string
	Server plan.Server
	// IsOwn says that the program is this product's: the program tells TLS from plain text without flags.
	IsOwn bool
	// ReadsAddress says that the program reads the server's address without a flag.
	ReadsAddress bool
}

// Probe is the command of an exec probe.
type Probe struct {
	Command []string `json:"command"`
	// TimeoutSeconds is the command's longest time, in whole seconds, plus one second for the container runtime.
	TimeoutSeconds int `json:"timeoutSeconds"`

	// liveness is the liveness probe beside a readiness probe, or nil. isLiveness marks a liveness probe.
	liveness   *Probe
	isLiveness bool
	given      Given
	// searches says that the program finds the server at any address.
	searches bool
	// asks holds the command's options, with the default flags. No address means none is known before the app runs.
	asks options.Options
	// suitsBridge says that a bridge takes the default flags.
	suitsBridge bool
	// lacksService says that the command has to name a service of unknown name.
	lacksService bool
	// address and asking are the command's flags for the server's address and for the question to the server.
	address, asking serverFlags
}

// serverFlags are flags about a server, with remarks on the values for a user to set.
type serverFlags struct{ words, remarks []string }

// timeoutSeconds returns the timeout for a command of this longest time. Kubernetes has timeouts as int32.
func timeoutSeconds(longest time.Duration) int {
	return int(min(math.Ceil(longest.Seconds())+1, math.MaxInt32))
}

// New returns the exec probe for a program and a server.
func New(g Given) Probe {
	p := Probe{
		Command:        append([]string{g.Path}, flags.RedactArgs(g.Args)...),
		TimeoutSeconds: timeoutSeconds(g.Defaults.LongestAsking),
		given:          g,
		searches:       g.IsOwn && g.Defaults.Searches,
		suitsBridge:    bridgeflags.CheckDefaults(g.Flags) == nil,
	}
	if g.IsOwn {
		p.TimeoutSeconds = timeoutSeconds(g.Defaults.Longest)
	}
	if !g.Defaults.HasAddress && !g.ReadsAddress {
		p.address = addressFlag(g.Server.Address)
	}
	if !g.Defaults.HasCredentials {
		p.asking = securityFlags(g.Server.Security, g.IsOwn)
	}
	if g.Defaults.NeedsHealth && !g.Defaults.HasServices {
		p.lacksService = g.Server.IsServiceUnknown
		p.askFor(g)
	}
	if p.lacksService {
		p.asking.remarks = append(p.asking.remarks, "add -service=NAME")
	}
	p.Command = append(p.Command, p.serverFlags(p.searches).words...)
	words := slices.Concat(g.Flags, p.asking.words)
	if target := g.Server.Address.Target(); target != "" && !g.Defaults.HasAddress {
		words = append(words, "-addr="+target)
	}
	// Refused default flags fail the build earlier. Flags of the server may still be refused beside the default flags:
	// then the options are unknown.
	p.asks, _ = flags.ReadOptions(words)
	return p
}

// askFor has the probe ask for the services with statuses from the app, if the app sets none of the whole server.
func (p *Probe) askFor(g Given) {
	service, others, _ := strings.Cut(g.Server.Service, ",")
	if others != "" && !g.IsOwn {
		remark := "asks for one service: give each other one (" + others + ") a probe of its own"
		p.asking.remarks = append(p.asking.remarks, remark)
	} else {
		service = g.Server.Service
	}
	if service != "" {
		p.asking.words = append(p.asking.words, "-service="+service)
	}
	if live := g; g.Server.Liveness != "" {
		live.Server.Service, live.Server.Liveness = g.Server.Liveness, ""
		of := New(live)
		of.isLiveness = true
		p.liveness = &of
	}
}

// Liveness returns the liveness probe beside p, or nil if the server has no service for liveness.
func (p Probe) Liveness() *Probe { return p.liveness }

// Service returns the service in the probe's question, or several with commas between; "" is the whole server.
func (p Probe) Service() string { return strings.Join(p.asks.Services, ",") }

// kind is the probe's field of a container in Kubernetes.
func (p Probe) kind() string {
	if p.isLiveness {
		return "livenessProbe"
	}
	return "readinessProbe"
}

// ServerOf returns the target of a probe with the default flags: the leading server, unless the flags state the address
// of another. If several servers are listed, and none has the flags' address, ServerOf returns the zero value.
func ServerOf(servers plan.Servers, defaults []string) plan.Server {
	asks, err := flags.ReadOptions(defaults)
	if err != nil || asks.Addr == "" || len(servers.Listed) < 2 {
		return servers.Lead()
	}
	for _, s := range servers.Listed {
		known, err := address.Parse(s.Address.Target(), address.AnyPort) // "" is no address
		if err == nil && slices.Contains(known.Endpoints, asks.Address.Endpoints[0]) {
			return s
		}
	}
	return plan.Server{}
}

// serverFlags returns the flags about the server, without the address if the program reads the address itself.
func (p Probe) serverFlags(readsAddress bool) serverFlags {
	if readsAddress {
		return p.asking
	}
	return serverFlags{
		slices.Concat(p.address.words, p.asking.words), slices.Concat(p.address.remarks, p.asking.remarks),
	}
}

// CommandOf returns the command of another program in place of the probe, and the remark on the flags for the command's
// line. The program reads all default flags; readsAddress says that it reads the server's address without a flag.
func (p Probe) CommandOf(path string, readsAddress bool) (command []string, remark string) {
	f := p.serverFlags(readsAddress)
	return append([]string{path}, f.words...), comment(f.remarks)
}

// examplePort replaces an unknown port in an exec probe. The examples of gRPC use this port.
const examplePort = 50051

// addressFlag returns the flag for a program that does not find the address.
func addressFlag(a plan.Address) serverFlags {
	var f serverFlags
	target := a.Target()
	switch {
	case target != "":
	case a.Host == plan.UnixSocket:
		target = "unix:/path/to/socket"
		f.remarks = []string{"the socket of your gRPC server"}
	case a.Variable != "":
		target = fmt.Sprintf("localhost:%d", examplePort)
		f.remarks = []string{"the port in $" + a.Variable}
	default:
		target = fmt.Sprintf("localhost:%d", examplePort)
		f.remarks = []string{"the port of your gRPC server"}
	}
	f.words = []string{"-addr=" + target}
	return f
}

// comment returns remarks as a comment for the end of a line; empty without remarks.
func comment(remarks []string) string {
	if len(remarks) == 0 {
		return ""
	}
	return " # " + strings.Join(remarks, "; ")
}

// DefaultAddress is the address for the probe to read in the image: the address in the app's source, unless the
// settings or the default flags say otherwise. The zero value is no address.
func DefaultAddress(settings config.Config, defaults flags.Defaults, a plan.Address) plan.Address {
	if !settings.DetectPort || defaults.HasAddress || !a.IsKnown() {
		return plan.Address{}
	}
	return a
}

// Defaults returns the consequences of the probe's default flags. The probe's own parser checks the flags; the error
// has the parser's hint.
func Defaults(args []string) (flags.Defaults, error) {
	defaults, err := flags.ReadDefaults(args)
	if err != nil {
		return defaults, fmt.Errorf("checking $%s: %w", config.ArgsEnv, outcome.WithHint(err))
	}
	return defaults, nil
}
