package build

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/detect"
)

// reportService says what the probe is for, and warns where no probe can pass.
func reportService(logger log.Logger, service detect.Service) {
	if service.Language == "" {
		logger.Header("No gRPC server was found; the probe was asked for")
		return
	}
	logger.Headerf("gRPC server: %s", service)
	if advice := service.HealthAdvice(); advice != "" {
		logger.Headerf("Warning: every probe will exit 3 until the app registers grpc.health.v1.Health: %s", advice)
	}
}

// reportExec ends the log with the probe's path and an exec probe to paste. The timeout is the sum of the probe's own
// two, a second each, and one for the container runtime.
func reportExec(logger log.Logger, path string, args []string, service detect.Service) {
	command, remark := strconv.Quote(path), ""
	if !hasAddress(args) {
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
		"  timeoutSeconds: 3",
	} {
		logger.Header("  " + line)
	}
}

// hasAddress reports whether the default flags say where the server is.
func hasAddress(args []string) bool {
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "addr" && strings.HasPrefix(arg, "-") {
			return true
		}
	}
	return false
}
