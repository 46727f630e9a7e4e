// Command grpc_health_inspect shows the findings of a build with the buildpack in an app's folder: it prints the detect
// phase's lines about gRPC servers, and the exec probe from the end of the build's log; or, as JSON, the content of the
// image's label. It writes nothing. scripts/demo.sh calls it, and a release has the program for users without Go.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/detect"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// The exit codes. An app that cannot be inspected and an app whose image would get no probe have different codes.
const (
	exitFound   = 0
	exitNothing = 1
	exitError   = 2
)

const usage = `usage: grpc_health_inspect [-o text|json] FOLDER

Says what pack build with the buildpack grpc-cnb/health-probe would find in the folder of an app: its gRPC servers with
their lines, health services and ports, and the exec probe to paste. It writes nothing and needs no network. It reads
the variables of the build, such as BP_GRPC_HEALTH_PROBE_ARGS; BP_LOG_LEVEL=DEBUG lists all evidence.

-o json prints what the image's label would say (docs/label.schema.json), on one line, without the keys that only a
build knows: version, source, variant, sha256, bridge, download. Warnings are on standard error.

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
	set := flag.NewFlagSet("grpc_health_inspect", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	output := set.String("o", "text", "")
	isVersion := set.Bool("version", false, "")
	err = set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(os.Stdout, usage)
		return exitFound, nil
	case err != nil:
		return exitError, fmt.Errorf("reading the command line: %w (-h lists the flags)", err)
	case *isVersion:
		info, _ := debug.ReadBuildInfo() // the go command writes it into every program
		fmt.Fprintln(os.Stdout, "grpc_health_inspect", info.Main.Version)
		return exitFound, nil
	case *output != "text" && *output != "json":
		return exitError, fmt.Errorf("reading the command line: %q is no output (take text or json)", *output)
	case set.NArg() != 1:
		fmt.Fprint(os.Stderr, usage)
		return exitError, nil
	}
	return inspect(set.Arg(0), *output == "json")
}

// inspect prints the findings of a build in a folder, as text or as JSON.
func inspect(folder string, isJSON bool) (code int, err error) {
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
	log := printer{out: os.Stdout, isDebug: os.Getenv("BP_LOG_LEVEL") == "DEBUG"}
	if isJSON {
		log.out, log.onlyWarnings = os.Stderr, true
	} else {
		fmt.Fprintf(log.out, "What a build finds in %s:\n", plan.Printable(folder))
	}
	servers, err := detect.Servers(folder, settings.Enabled, log)
	if err != nil {
		return exitError, err
	}
	if len(servers) == 0 && settings.Enabled != config.EnabledTrue {
		return exitNothing, errors.New("the image would get no probe; docs/detection.md says what counts as a " +
			"server, and BP_LOG_LEVEL=DEBUG lists what was read")
	}
	listed := plan.List(servers)
	server := execprobe.ServerOf(listed, settings.Args)
	probe := execprobe.New(execprobe.Given{
		Path: execprobe.ImagePath, Flags: settings.Args, Defaults: defaults, Server: server,
		IsOwn:        settings.Source != config.Download,
		ReadsAddress: execprobe.DefaultAddress(settings, defaults, server.Address).IsKnown(),
	})
	if isJSON {
		if err := json.NewEncoder(os.Stdout).Encode(execprobe.NewLabel(probe, settings.Args, listed)); err != nil {
			return exitError, fmt.Errorf("printing JSON: %w", err)
		}
		return exitFound, nil
	}
	probe.Report(log, len(servers) > 1, settings.Bridge != config.BridgeFalse)
	return exitFound, nil
}

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

// printer prints lines with the indentation of a build's log.
type printer struct {
	out          io.Writer
	isDebug      bool
	onlyWarnings bool // beside JSON, which has the rest
}

// Headerf prints a line.
func (p printer) Headerf(format string, args ...any) {
	if !p.onlyWarnings || strings.HasPrefix(format, "Warning: ") {
		fmt.Fprintf(p.out, "  "+format+"\n", args...)
	}
}

// Debugf prints a line if the user asked for all evidence.
func (p printer) Debugf(format string, args ...any) {
	if p.isDebug {
		fmt.Fprintf(p.out, "  "+format+"\n", args...)
	}
}
