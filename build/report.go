package build

import (
	"fmt"
	"path/filepath"

	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/execprobe"
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
func newBridge(exec execprobe.Probe, p *program, hasAddress bool) *bridge {
	if p == nil {
		return nil
	}
	command := []string{filepath.Join(filepath.Dir(exec.Command[0]), p.name)}
	if !hasAddress {
		command = append(command, exec.Command[len(exec.Command)-1])
	}
	return &bridge{command, bridgeflags.Port, p.version, p.source, p.sha256}
}

// reportBridge logs how to run the bridge, and how to probe it. The remark is about the server's port in its command.
func reportBridge(logger log.Logger, b bridge, remark string) {
	logger.Headerf("Bridge: %s", b.Command[0])
	for _, line := range []string{
		"initContainers: # beside the app's container, from the same image",
		"  - name: health-bridge",
		"    restartPolicy: Always",
		"    command: [" + execprobe.Quoted(b.Command) + "]" + remark,
		"containers: # the app's own, in place of an exec probe",
		fmt.Sprintf("  - readinessProbe: {grpc: {port: %d}}", b.Port),
		fmt.Sprintf("    livenessProbe: {grpc: {port: %d, service: live}}", b.Port),
	} {
		logger.Header("  " + line)
	}
}
