package build

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
)

// reportService logs which server the probe is for, and a warning where every probe would fail.
func reportService(logger log.Logger, service plan.Server, defaults probe.Defaults) {
	if service.Language == "" {
		logger.Header("No gRPC server was found; the probe was asked for")
		return
	}
	logger.Headerf("gRPC server: %s", service)
	if warning := service.HealthWarning(); warning != "" && defaults.NeedsHealth {
		logger.Headerf("Warning: %s", warning)
	}
}

// reportInterpreter logs a warning for a program that needs files of the run image.
func reportInterpreter(logger log.Logger, p program) {
	if p.interpreter != "" {
		logger.Headerf("Warning: the probe is linked dynamically: it cannot run in an image without %q and the "+
			"libraries that it needs", p.interpreter)
	}
}

// execProbe is the command of an exec probe, as it is printed and as the image's label has it.
type execProbe struct {
	Command []string `json:"command"`
	// TimeoutSeconds is the longest time that the command takes, in whole seconds, and one second more for the
	// container runtime.
	TimeoutSeconds int `json:"timeoutSeconds"`

	// isPortUnknown says that the port in the command is an example.
	isPortUnknown bool
}

// examplePort stands in an exec probe whose port is not known: that of the examples of gRPC.
const examplePort = 50051

// newExecProbe returns the exec probe for the program at path. Args are the flags that each exec probe must give a
// program that reads no default flags. Port is the port that the app's source states, or 0; isDefault says that the
// program reads it by itself.
func newExecProbe(path string, args []string, defaults probe.Defaults, port int, isDefault bool) execProbe {
	p := execProbe{
		Command:        append([]string{path}, probe.RedactArgs(args)...),
		TimeoutSeconds: int(math.Ceil(defaults.Longest.Seconds())) + 1,
	}
	if !defaults.HasAddress && !isDefault {
		p.isPortUnknown = port == 0
		p.Command = append(p.Command, fmt.Sprintf("-addr=localhost:%d", cmp.Or(port, examplePort)))
	}
	return p
}

// ReportExec logs the path and the exec probe with which a build with the bundled probe would end its log for a
// service, in an image that has its layers in the folder that all builders use.
func ReportExec(buildpack libcnb.Buildpack, service plan.Server, logger log.Logger) error {
	settings, err := readSettings(buildpack)
	if err != nil {
		return err
	}
	// In the folder of layers a buildpack has one that is named for its ID (platform spec, Layers).
	layer := libcnb.Layer{Path: path.Join("/layers", strings.ReplaceAll(buildpack.Info.ID, "/", "_"), layerName)}
	isDefault := defaultPort(settings, programs{}, service) != 0
	reportExec(logger, newExecProbe(pathIn(layer), nil, settings.defaults, service.Port, isDefault), false)
	return nil
}

// reportExec ends the log with the probe's path and an exec probe to paste. givesFlags says that each exec probe must
// give the program its flags.
func reportExec(logger log.Logger, p execProbe, givesFlags bool) {
	if givesFlags {
		logger.Headerf("Warning: the downloaded probe reads no default flags: each exec probe must give it those "+
			"in $%s, as below", config.ArgsEnv)
	}
	remark := ""
	if p.isPortUnknown {
		remark = " # the port of your gRPC server"
	}
	logger.Headerf("Probe: %s", p.Command[0])
	for _, line := range []string{
		"readinessProbe:",
		"  exec:",
		"    command: [" + quoted(p.Command) + "]" + remark,
		fmt.Sprintf("  timeoutSeconds: %d", p.TimeoutSeconds),
	} {
		logger.Header("  " + line)
	}
}

// bridge is the bridge and how it is run, as it is printed and as the image's label has it.
type bridge struct {
	Command []string `json:"command"`
	// Port is where native probes ask it.
	Port    int    `json:"port"`
	Version string `json:"version"`
	Source  string `json:"source"`
	SHA256  string `json:"sha256"`
}

// newBridge describes the program p, which is in the folder of the probe; nil for none. HasAddress says that it finds
// the server's address by itself; without that it is given the one at the end of the exec probe.
func newBridge(exec execProbe, p *program, hasAddress bool) *bridge {
	if p == nil {
		return nil
	}
	command := []string{filepath.Join(filepath.Dir(exec.Command[0]), p.name)}
	if !hasAddress {
		command = append(command, exec.Command[len(exec.Command)-1])
	}
	return &bridge{command, bridgeflags.Port, p.version, p.source, p.sha256}
}

// reportBridge logs how to run the bridge, and how to probe it. IsPortUnknown says that the port of the server in its
// command is an example.
func reportBridge(logger log.Logger, b bridge, isPortUnknown bool) {
	remark := ""
	if isPortUnknown {
		remark = " # the port of your gRPC server"
	}
	logger.Headerf("Bridge: %s", b.Command[0])
	for _, line := range []string{
		"initContainers: # beside the app's container, from the same image",
		"  - name: health-bridge",
		"    restartPolicy: Always",
		"    command: [" + quoted(b.Command) + "]" + remark,
		"containers: # the app's own, in place of an exec probe",
		fmt.Sprintf("  - readinessProbe: {grpc: {port: %d}}", b.Port),
		fmt.Sprintf("    livenessProbe: {grpc: {port: %d, service: live}}", b.Port),
	} {
		logger.Header("  " + line)
	}
}

// quoted returns words as the items of a list in YAML.
func quoted(words []string) string {
	items := make([]string, len(words))
	for i, word := range words {
		items[i] = strconv.Quote(word)
	}
	return strings.Join(items, ", ")
}
