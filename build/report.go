package build

import (
	"fmt"
	"math"
	"strconv"

	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/detect"
	"github.com/grpc-cnb/health-probe/probe"
)

// reportService says what the probe is for, and warns where no probe can pass.
func reportService(logger log.Logger, service detect.Service, defaults probe.Defaults) {
	if service.Language == "" {
		logger.Header("No gRPC server was found; the probe was asked for")
		return
	}
	logger.Headerf("gRPC server: %s", service)
	if warning := service.HealthWarning(); warning != "" && defaults.NeedsHealth {
		logger.Headerf("Warning: %s", warning)
	}
}

// reportExec ends the log with the probe's path and an exec probe to paste. Its timeout is the longest that the probe
// takes, in whole seconds, and one more for the container runtime. The flags in args are those it must be given, since it
// reads no default ones.
func reportExec(logger log.Logger, path string, args []string, defaults probe.Defaults, service detect.Service) {
	if len(args) > 0 {
		logger.Headerf("Warning: the downloaded probe reads no default flags: each exec probe must give it those in $%s, as below", ArgsEnv)
	}
	command, remark := strconv.Quote(path), ""
	for _, arg := range probe.RedactArgs(args) {
		command += ", " + strconv.Quote(arg)
	}
	if !defaults.HasAddress {
		port := service.Port
		if port == 0 {
			port, remark = 50051, " # the port of your gRPC server"
		}
		command += fmt.Sprintf(`, "-addr=localhost:%d"`, port)
	}
	logger.Headerf("Probe: %s", path)
	for _, line := range []string{
		"readinessProbe:",
		"  exec:",
		"    command: [" + command + "]" + remark,
		fmt.Sprintf("  timeoutSeconds: %d", int(math.Ceil(defaults.Longest.Seconds()))+1),
	} {
		logger.Header("  " + line)
	}
}
