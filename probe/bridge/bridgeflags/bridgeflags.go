// Package bridgeflags is the command line of the bridge: the flags of the probe, without those that only the probe has,
// and where to listen. In go the words of a command line, the environment and the default flags of the image, out come
// [Flags]. Begin with [Read]. The build of an image uses [CheckDefaults].
package bridgeflags

import (
	"flag"
	"fmt"
	"os"

	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

const (
	// Program is the name of the bridge's program.
	Program = "grpc_health_bridge"
	// Port is the port on which the bridge listens where nothing else is said.
	Port = 8086

	// Listen is the one flag that the probe does not have.
	Listen = "listen"
	// ListenEnv is its environment variable.
	ListenEnv = "GRPC_HEALTH_BRIDGE_LISTEN"
)

// Flags is what a bridge is told.
type Flags struct {
	// Listen is where it listens: host:port or :port.
	Listen string
	// Options are how it reaches its server, and what it asks.
	Options check.Options
	// Notes say where each value came from; there are none without -v.
	Notes []string
}

// lacks are the flags of the probe that the bridge does not have, each with what to do instead: it neither ends nor
// tries again, prints no outcome, and has the lean transport.
var lacks = map[string]outcome.Hint{
	"watch":  "leave it out, and call Health/Watch of the bridge",
	"wait":   "leave it out: whoever asks the bridge tries again",
	"o":      "leave it out, and get /healthz of the bridge with Accept: application/json",
	"alts":   onlyFull,
	"spiffe": onlyFull,
}

const onlyFull outcome.Hint = "use an exec probe of the full variant in place of the bridge"

// Read reads what a bridge is told by its command line, its environment and the default flags of its image. It returns
// a text where help or the version was all that was asked for. The error is a *[outcome.Failure].
func Read(args []string) (f *Flags, text string, err error) {
	c := probe.NewCommandLine(Program, help)
	listen := os.Getenv(ListenEnv)
	if listen == "" {
		listen = fmt.Sprintf(":%d", Port)
	}
	c.Flags.StringVar(&listen, Listen, listen, "")
	if text, err = c.Gather(args); text != "" || err != nil {
		return nil, text, err
	}
	if err := refuse(c); err != nil {
		return nil, "", err
	}
	options, err := c.Options()
	if err != nil {
		return nil, "", err
	}
	f = &Flags{Listen: listen, Options: *options}
	if c.Verbose() {
		f.Notes = append(c.Describe(), fmt.Sprintf("-%s=%q", Listen, listen))
	}
	return f, "", nil
}

// refuse returns a *[outcome.Failure] for a flag that is set and that the bridge does not have.
func refuse(c *probe.CommandLine) (err error) {
	c.Flags.VisitAll(func(f *flag.Flag) {
		if hint := lacks[f.Name]; err == nil && hint != "" && f.Value.String() != f.DefValue {
			err = outcome.Misuse(
				fmt.Errorf("checking flags: the bridge has no -%s (%s)", f.Name, c.Source(f.Name)), hint)
		}
	})
	return err
}

// CheckDefaults returns an error for default flags that a bridge does not have. The probe has them all.
func CheckDefaults(words []string) error {
	c := probe.NewCommandLine(Program, help)
	if err := c.ParseDefaults(words, "default"); err != nil {
		return err
	}
	return refuse(c)
}

const helpHead = `Usage: grpc_health_bridge [flags]

Answers health checks for a gRPC server that the asker cannot check itself: it
asks the server as grpc_health_probe with the same flags does, each time that
it is asked. It answers on one port, in plain text:
  gRPC: grpc.health.v1.Health, of which the service "" is what the flags ask
        for, ready and live are the same with that -mode, and any other name is
        that service of the server
  HTTP: /healthz, /readyz and /livez, with 200 or 503

Flags:
`

const helpTail = `
Where a value comes from, first found wins (-v shows it):
  1. a flag
  2. an environment variable: ` + ListenEnv + `, and for the others
     GRPC_HEALTH_PROBE_ and the flag in capitals, as for the probe
  3. the default flags of the image, ../../config/` + probe.ArgsFileName + `
     seen from the folder of this program
  4. for the address alone: localhost:$PORT
  5. for the address alone: the port that the build of the image has found in
     the app, in ../../config/` + probe.PortFileName + `

SIGTERM ends it, with the exit code 0; the exit code 1 is for flags, or for an
address to listen on, that are wrong.
`

// help is the text for -h.
func help() string {
	flags := flag.NewFlagSet(Program, flag.ContinueOnError)
	flags.String(Listen, fmt.Sprintf(":%d", Port), "`address` to answer on: host:port or :port")
	probe.NewCommandLine(Program, nil).Flags.VisitAll(func(f *flag.Flag) {
		if lacks[f.Name] == "" {
			flags.Var(f.Value, f.Name, f.Usage)
		}
	})
	return helpHead + probe.DescribeFlags(flags) + helpTail
}
