// Package execprobe is the probe for a server, as the build's log prints it for users to paste and as the image's label
// has it. In go the probe's default flags and what detection knows of the server; out comes a command, what it lacks,
// and what Kubernetes could do in its place.
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

// The path that users name in their pods, which never changes: the name of the layer in the folder that a builder has
// for the buildpack's layers (platform spec, Layers), and the name of the program in the layer's folder bin.
const (
	LayerName   = "probe"
	ProgramName = "grpc_health_probe"
	ImagePath   = "/layers/grpc-cnb_health-probe/" + LayerName + "/bin/" + ProgramName
)

// Given is what is known of a program and of the server that it is to probe.
type Given struct {
	// Path is the program's.
	Path string
	// Flags are the default flags, and Defaults what follows from them.
	Flags    []string
	Defaults flags.Defaults
	// Args are the flags that each exec probe must give a program that reads no default flags.
	Args   []string
	Server plan.Server
	// IsOwn says that the program is this product's: it tells TLS from plain text by itself.
	IsOwn bool
	// ReadsAddress says that the program reads the server's address by itself.
	ReadsAddress bool
}

// Probe is the command of an exec probe.
type Probe struct {
	Command []string `json:"command"`
	// TimeoutSeconds is the longest time that the command takes, in whole seconds, and one second more for the
	// container runtime.
	TimeoutSeconds int `json:"timeoutSeconds"`

	// liveness is the probe for liveness beside this one, nil for none, and isLiveness says that this is one.
	liveness   *Probe
	isLiveness bool
	given      Given
	// searches says that the program finds the server wherever it listens.
	searches bool
	// asks is what the command asks, with the default flags. It has no address if none is known before the app runs.
	asks options.Options
	// suitsBridge says that a bridge takes the default flags.
	suitsBridge bool
	// lacksService says that the command has to name a service, whose name is not known.
	lacksService bool
	// address and asking are the flags in the command that are about the server: where it listens, and how it is asked.
	address, asking serverFlags
}

// serverFlags are flags that are about a server, and what a user has to set in them.
type serverFlags struct{ words, remarks []string }

// timeoutSeconds returns the timeout for a command that takes at most this long. Kubernetes has it as an int32.
func timeoutSeconds(longest time.Duration) int {
	return int(min(math.Ceil(longest.Seconds())+1, math.MaxInt32))
}

// New returns the exec probe for what is given.
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
	// Default flags that the probe refuses fail the build before. What a server has may be refused beside them: then
	// nothing is known of what is asked.
	p.asks, _ = flags.ReadOptions(words)
	return p
}

// askFor has the probe ask for the services that the app sets statuses of, if it sets none of the whole server.
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

// Liveness returns the probe for liveness beside this one, if the server has a service for that; else nil.
func (p Probe) Liveness() *Probe { return p.liveness }

// Service returns the service that the probe asks for, or several with commas between them; "" is the whole server.
func (p Probe) Service() string { return strings.Join(p.asks.Services, ",") }

// kind is the field of a container, in Kubernetes, that the probe is for.
func (p Probe) kind() string {
	if p.isLiveness {
		return "livenessProbe"
	}
	return "readinessProbe"
}

// ServerOf returns the server that a probe with the default flags asks: the leading one, unless the flags state the
// address of another. Nothing is known of the server if they state an address that none of several is known to have.
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

// serverFlags returns the flags about the server, for a program that reads its address by itself or does not.
func (p Probe) serverFlags(readsAddress bool) serverFlags {
	if readsAddress {
		return p.asking
	}
	return serverFlags{
		slices.Concat(p.address.words, p.asking.words), slices.Concat(p.address.remarks, p.asking.remarks),
	}
}

// CommandOf returns the command of another program in place of the probe, which reads all default flags, and what the
// line with the command says of its flags; readsAddress says that it reads the server's address by itself.
func (p Probe) CommandOf(path string, readsAddress bool) (command []string, remark string) {
	f := p.serverFlags(readsAddress)
	return append([]string{path}, f.words...), comment(f.remarks)
}

// examplePort stands in an exec probe whose port is not known: that of the examples of gRPC.
const examplePort = 50051

// addressFlag returns the flag for an address that the program does not find by itself.
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

// comment returns remarks as a comment that ends a line; empty if nothing has to be said.
func comment(remarks []string) string {
	if len(remarks) == 0 {
		return ""
	}
	return " # " + strings.Join(remarks, "; ")
}

// DefaultAddress is the address that the probe reads in the image by itself: the one that the app's source states,
// unless the settings or the default flags say otherwise; the zero value for none.
func DefaultAddress(settings config.Config, defaults flags.Defaults, a plan.Address) plan.Address {
	if !settings.DetectPort || defaults.HasAddress || !a.IsKnown() {
		return plan.Address{}
	}
	return a
}

// Defaults returns what follows from the probe's default flags. The probe's own parser checks them; the error has its
// hint.
func Defaults(args []string) (flags.Defaults, error) {
	defaults, err := flags.ReadDefaults(args)
	if err != nil {
		return defaults, fmt.Errorf("checking $%s: %w", config.ArgsEnv, outcome.WithHint(err))
	}
	return defaults, nil
}
