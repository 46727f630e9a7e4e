// Command grpc_health_inspect says what a build with the buildpack would find in an app's folder: it prints the lines
// of the detect phase about gRPC servers, and the exec probe with which the build's log would end. It writes nothing.
// scripts/demo.sh calls it, and a release has it for those who have no Go.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/detect"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// The exit codes. What cannot be inspected gives another code than an app whose image would get no probe.
const (
	exitFound   = 0
	exitNothing = 1
	exitError   = 2
)

const usage = `usage: grpc_health_inspect FOLDER

Says what pack build with the buildpack grpc-cnb/health-probe would find in the folder of an app: its gRPC servers with
their lines, health services and ports, and the exec probe to paste. It writes nothing and needs no network. It reads
the variables of the build, such as BP_GRPC_HEALTH_PROBE_ARGS; BP_LOG_LEVEL=DEBUG lists all evidence.

Exit codes: 0 the image would get a probe; 1 it would get none, as for an app without a server; 2 the folder cannot be
read, or a variable is wrong.
`

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", plan.SafeError(err))
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	if len(args) != 1 {
		fmt.Fprint(os.Stderr, usage)
		return exitError, nil
	}
	switch args[0] {
	case "-h", "-help", "--help":
		fmt.Fprint(os.Stdout, usage)
		return exitFound, nil
	case "-version", "--version":
		info, _ := debug.ReadBuildInfo() // the go command writes it into every program
		fmt.Fprintln(os.Stdout, "grpc_health_inspect", info.Main.Version)
		return exitFound, nil
	}
	return inspect(args[0])
}

// inspect prints what a build would find in a folder.
func inspect(folder string) (code int, err error) {
	folder, err = appFolder(folder)
	if err != nil {
		return exitError, err
	}
	settings, defaults, err := execprobe.ReadSettings(nil)
	switch {
	case settings.Enabled == config.EnabledFalse:
		return exitNothing, fmt.Errorf("the image would get no probe, because $%s is false", config.EnabledEnv)
	case err != nil:
		return exitError, err
	}
	fmt.Fprintf(os.Stdout, "What a build finds in %s:\n", plan.Printable(folder))
	servers, err := detect.Servers(folder, settings.Enabled, printer{isDebug: os.Getenv("BP_LOG_LEVEL") == "DEBUG"})
	if err != nil {
		return exitError, err
	}
	if len(servers) == 0 && settings.Enabled != config.EnabledTrue {
		return exitNothing, errors.New("the image would get no probe; docs/detection.md says what counts as a " +
			"server, and BP_LOG_LEVEL=DEBUG lists what was read")
	}
	server := execprobe.ServerOf(plan.List(servers), settings.Args)
	execprobe.New(execprobe.Given{
		Path: execprobe.ImagePath, Flags: settings.Args, Defaults: defaults, Server: server,
		IsOwn:        settings.Source != config.Download,
		ReadsAddress: execprobe.DefaultAddress(settings, defaults, server.Address).IsKnown(),
	}).Report(printer{}, len(servers) > 1, settings.Bridge != config.BridgeFalse)
	return exitFound, nil
}

// appFolder returns the absolute path of a folder.
func appFolder(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", fmt.Errorf("looking for the app: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("looking for the app: %q is not a folder: name the folder that you would give to "+
			"pack build", name)
	}
	return filepath.Abs(name)
}

// printer prints a line, indented as those of a build's log.
type printer struct{ isDebug bool }

// Headerf prints a line.
func (printer) Headerf(format string, args ...any) { fmt.Fprintf(os.Stdout, "  "+format+"\n", args...) }

// Debugf prints a line if the user asked for all evidence.
func (p printer) Debugf(format string, args ...any) {
	if p.isDebug {
		p.Headerf(format, args...)
	}
}
