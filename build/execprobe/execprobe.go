// Package execprobe is the exec probe for a server, as the build's log prints it for users to paste and as the image's
// label has it. In go the probe's default flags and what detection knows of the server; out comes a command.
//
// Begin with [New], then [Probe.Report].
package execprobe

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// The path that users name in their pods, which never changes: the name of the layer in the folder that a builder has
// for the buildpack's layers (platform spec, Layers), and the name of the program in the layer's folder bin.
const (
	LayerName   = "probe"
	ProgramName = "grpc_health_probe"
	ImagePath   = "/layers/grpc-cnb_health-probe/" + LayerName + "/bin/" + ProgramName
)

// Probe is the command of an exec probe.
type Probe struct {
	Command []string `json:"command"`
	// TimeoutSeconds is the longest time that the command takes, in whole seconds, and one second more for the
	// container runtime.
	TimeoutSeconds int `json:"timeoutSeconds"`

	// isPortUnknown says that the port in the command is an example.
	isPortUnknown bool
}

// examplePort stands in an exec probe whose port is not known: that of the examples of gRPC.
const examplePort = 50051

// New returns the exec probe for the program at path. Args are the flags that each exec probe must give a program that
// reads no default flags. Port is the port that the app's source states, or 0; isDefault says that the program reads it
// by itself.
func New(path string, args []string, defaults probe.Defaults, port int, isDefault bool) Probe {
	p := Probe{
		Command:        append([]string{path}, probe.RedactArgs(args)...),
		TimeoutSeconds: int(math.Ceil(defaults.Longest.Seconds())) + 1,
	}
	if !defaults.HasAddress && !isDefault {
		p.isPortUnknown = port == 0
		p.Command = append(p.Command, fmt.Sprintf("-addr=localhost:%d", cmp.Or(port, examplePort)))
	}
	return p
}

// DefaultPort is the port that the probe reads in the image by itself: the one that the app's source states, unless the
// settings or the default flags say otherwise; 0 for none.
func DefaultPort(settings config.Config, defaults probe.Defaults, port int) int {
	if !settings.DetectPort || defaults.HasAddress {
		return 0
	}
	return port
}

// Defaults returns what follows from the probe's default flags. The probe's own parser checks them; the error has its
// hint.
func Defaults(args []string) (probe.Defaults, error) {
	defaults, err := probe.ReadDefaults(args)
	if err != nil {
		return defaults, fmt.Errorf("checking $%s: %w", config.ArgsEnv, outcome.WithHint(err))
	}
	return defaults, nil
}

// Logger gets lines for users.
type Logger interface {
	Headerf(format string, args ...any)
}

// Report ends the log with the probe's path and an exec probe to paste. givesFlags says that each exec probe must give
// the program its flags.
func (p Probe) Report(logger Logger, givesFlags bool) {
	if givesFlags {
		logger.Headerf("Warning: the downloaded probe reads no default flags: each exec probe must give it those "+
			"in $%s, as below", config.ArgsEnv)
	}
	logger.Headerf("Probe: %s", p.Command[0])
	for _, line := range []string{
		"readinessProbe:",
		"  exec:",
		"    command: [" + Quoted(p.Command) + "]" + p.Remark(),
		fmt.Sprintf("  timeoutSeconds: %d", p.TimeoutSeconds),
	} {
		logger.Headerf("  %s", line)
	}
}

// Remark is what the line with the command says of its port; empty if the port is the server's.
func (p Probe) Remark() string {
	if p.isPortUnknown {
		return " # the port of your gRPC server"
	}
	return ""
}

// Quoted returns words as the items of a list in YAML.
func Quoted(words []string) string {
	items := make([]string, len(words))
	for i, word := range words {
		items[i] = strconv.Quote(word)
	}
	return strings.Join(items, ", ")
}
