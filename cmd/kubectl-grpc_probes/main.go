// Command kubectl-grpc_probes writes the probes of images into the manifests that run the images. By name the command
// is a plugin of kubectl; it is also a program alone, and a KRM function of kustomize and kpt.
//
// The input is manifests. The label of each container's image has the probes for the container. Begin with run.
//
// The command has a Go module of its own, so that the buildpack needs no client for registries and clusters.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/pflag"
)

// The exit codes, as of diff.
const (
	exitGood  = 0
	exitDrift = 1 // a manifest lacks what its images want, or has no container that fits
	exitError = 2 // wrong use, or something could not be read or written; nothing was written
)

const usage = `Writes the gRPC health probes that images have for themselves into the manifests that run them.

  kubectl grpc-probes print IMAGE...             prints the probes of images
  kubectl grpc-probes patch -f FILE|FOLDER|-     writes them into manifests; from standard input to standard output
  kubectl grpc-probes check -f FILE|FOLDER|-     says which containers lack them, or have others
  kubectl grpc-probes discover POD               prints the probes of what listens in a running pod
  kubectl-grpc_probes <RESOURCELIST              is a KRM function, of kustomize and kpt

An image is a name in a registry, which is read with your credentials of docker login; a tarball; or the folder of an
OCI layout. It has probes if the buildpack grpc-cnb/health-probe was among those that built it. A workload or a pod with
the annotation "io.github.grpc-cnb.health-probe: ignore" stays as it is. COMMAND -h lists flags.

Exit codes: 0 good; 1 containers lack probes, or no container fits; 2 wrong use, or nothing could be read or written.
`

// errDrift has exit code 1.
var errDrift = errors.New("the manifests and their images differ")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	code := exitGood
	switch {
	case errors.Is(err, errDrift):
		code = exitDrift
	case err != nil:
		code = exitError
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %s\n", printable(err.Error()))
	}
	os.Exit(code)
}

// printable replaces characters with which a label or a manifest could control a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// run executes a command. Without arguments, run is a KRM function if standard input has content.
func run(ctx context.Context, args []string, in io.Reader, out, messages io.Writer) error {
	p := &program{in: in, out: out, messages: messages}
	if len(args) == 0 {
		if file, ok := in.(*os.File); ok {
			if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
				fmt.Fprint(messages, usage)
				return errors.New("reading the arguments: there is no command")
			}
		}
		return p.function(ctx)
	}
	commands := map[string]func(context.Context, []string) error{
		"print": p.print, "patch": p.patch, "check": p.check, "discover": p.discover,
	}
	switch command := commands[args[0]]; {
	case command != nil:
		if err := command(ctx, args[1:]); !errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return nil
	case args[0] == "-h" || args[0] == "--help" || args[0] == "help":
		fmt.Fprint(out, usage)
		return nil
	case args[0] == "--version":
		info, _ := debug.ReadBuildInfo() // the go command writes it into every program
		fmt.Fprintln(out, "kubectl-grpc_probes", info.Main.Version)
		return nil
	}
	return fmt.Errorf("reading the arguments: %q is no command (run kubectl grpc-probes -h)", args[0])
}
