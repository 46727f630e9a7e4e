// Package bridgeflags is the command line of the bridge: the flags of the probe, without those that only the probe has,
// where to listen, and who may ask. In go the words of a command line, the environment and the default flags of the
// image, out come [Flags]. Begin with [Read]. The build of an image uses [CheckDefaults].
package bridgeflags

import (
	"cmp"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

const (
	// Program is the name of the bridge's program.
	Program = "grpc_health_bridge"
	// Starter is the program's name when the lifecycle's launcher calls it, to have it start in the background.
	Starter = "start_grpc_health_bridge"
	// Port is the port on which the bridge listens if nothing else is said.
	Port = 8086

	// Listen is a flag that the probe does not have.
	Listen = "listen"
	// ListenEnv is its environment variable.
	ListenEnv = "GRPC_HEALTH_BRIDGE_LISTEN"
	// Allow is the other flag that the probe does not have.
	Allow = "allow"
	// AllowEnv is its environment variable.
	AllowEnv = "GRPC_HEALTH_BRIDGE_ALLOW"

	// Name is the third one.
	Name = "name"
	// NameEnv is its environment variable.
	NameEnv = "GRPC_HEALTH_BRIDGE_NAME"

	// Background is the fourth one.
	Background = "background"
	// BackgroundEnv is its environment variable.
	BackgroundEnv = "GRPC_HEALTH_BRIDGE_BACKGROUND"

	// Timeout is the longest time of everything together if no flag limits any time. The kubelet waits for a second,
	// if it is told nothing else, and gets the cause before.
	Timeout = 900 * time.Millisecond
)

// Flags is what a bridge is told.
type Flags struct {
	// Listen is where it listens: host:port or :port.
	Listen string
	// Name is whose bridge it is, empty if there is no need to tell it from another.
	Name string
	// Background says that it is to run in a process of its own, and this one to end.
	Background bool
	// Allow are the networks whose addresses may ask; with none, everybody may.
	Allow []netip.Prefix
	// Options are how it reaches its server, and what it asks.
	Options options.Options
	// Notes say which variables have no effect and, with -v, where each value came from.
	Notes []string
}

// lacks are the flags of the probe that the bridge does not have, each with what to do instead: it neither ends nor
// tries again, prints no outcome, and has the lean transport.
var lacks = map[string]outcome.Hint{
	"watch":    "leave it out, and call Health/Watch of the bridge",
	"wait":     "leave it out: the bridge's callers try again",
	"discover": "run grpc_health_probe -discover, which is beside the bridge",
	"o":        "leave it out, and get /healthz of the bridge with Accept: application/json",
	"alts":     onlyFull,
	"spiffe":   onlyFull,
}

const onlyFull outcome.Hint = "use an exec probe of the full variant instead of the bridge"

// Read reads what a bridge is told by its command line, its environment and the default flags of its image. lookUp
// knows the names of ports. It returns a text if help or the version was all that was asked for. The error is a
// *[outcome.Failure]. besideApp says that the bridge runs in the app's container, where it can find the server by
// itself.
func Read(args []string, lookUp address.PortLookup, besideApp bool) (f *Flags, text string, err error) {
	c := flags.New(Program, help)
	c.CanSearch = besideApp && runtime.GOOS == "linux"
	own := addOwn(c.Flags, os.Getenv)
	if text, err = c.Gather(args); text != "" || err != nil {
		return nil, text, err
	}
	if err = refuse(c); err == nil {
		err = checkBackground()
	}
	if err != nil {
		return nil, "", err
	}
	options, err := c.Options(lookUp)
	if err != nil {
		return nil, "", err
	}
	if c.Source("timeout") == "" && c.Source("connect-timeout") == "" && c.Source("rpc-timeout") == "" {
		options.Budget.Timeout = Timeout
	}
	f = &Flags{Listen: *own.listen, Name: *own.name, Background: *own.background, Options: *options}
	if f.Allow, err = parseNetworks(*own.allow); err == nil {
		err = cmp.Or(checkName(f.Name), checkListen(f.Listen, options, lookUp))
	}
	if err != nil {
		return nil, "", err
	}
	f.Notes = Ignored()
	if c.Verbose() {
		f.Notes = append(append(f.Notes, c.Describe()...), fmt.Sprintf("-%s=%q", Listen, f.Listen),
			fmt.Sprintf("-%s=%q", Allow, *own.allow), fmt.Sprintf("-%s=%q", Name, f.Name))
	}
	return f, "", nil
}

// Ignored returns a note for each variable of the environment that is named as the bridge's are, and that no flag has.
func Ignored() []string {
	const prefix = "GRPC_HEALTH_BRIDGE_"
	known := []string{prefix + "REPORT"} // that of package background
	own := flag.NewFlagSet(Program, flag.ContinueOnError)
	addOwn(own, func(string) string { return "" })
	own.VisitAll(func(f *flag.Flag) {
		known = append(known, prefix+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
	})
	return append(flags.IgnoredVariables(prefix, known), flags.New(Program, help).Ignored()...)
}

// parseNetworks reads addresses and networks with commas between them. The error is a *[outcome.Failure].
func parseNetworks(text string) (networks []netip.Prefix, err error) {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		network, ok := parseNetwork(word)
		if !ok {
			return nil, outcome.Misuse(fmt.Errorf("parsing -%s: %q is neither an address nor a network", Allow, word),
				"write it as 10.0.0.7 or 10.1.0.0/16, with commas between several")
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// parseNetwork reads an address or a network. An IPv4 address may be written as IPv6 (::ffff:10.0.0.7).
func parseNetwork(word string) (network netip.Prefix, ok bool) {
	network, err := netip.ParsePrefix(word)
	if address, notOne := netip.ParseAddr(word); notOne == nil {
		network, err = netip.PrefixFrom(address.WithZone(""), address.BitLen()), nil
	}
	if address := network.Addr(); address.Is4In6() { // PrefixFrom makes no valid one of fewer bits than the mapping has
		network = netip.PrefixFrom(address.Unmap(), network.Bits()-(128-32))
	}
	return network.Masked(), err == nil && network.IsValid()
}

// refuse returns a *[outcome.Failure] for a flag that is set and that the bridge does not have.
func refuse(c *flags.CommandLine) (err error) {
	c.Flags.VisitAll(func(f *flag.Flag) {
		if hint := lacks[f.Name]; err == nil && hint != "" && f.Value.String() != f.DefValue {
			source := c.Source(f.Name)
			err = outcome.Misuse(fmt.Errorf("checking flags: the bridge has no -%s (%s)", f.Name, source), hint)
		}
	})
	return err
}

// CheckDefaults returns an error for default flags that a bridge does not have. The probe has them all.
func CheckDefaults(words []string) error {
	c := flags.New(Program, help)
	if err := c.ParseDefaults(words, "default"); err != nil {
		return err
	}
	return refuse(c)
}

const helpHead = `Usage: grpc_health_bridge [flags]

Answers health checks for a gRPC server that its callers, such as the kubelet,
cannot check themselves. For each check it asks the server as grpc_health_probe
does with the same flags. It answers on one port, in plain text:
  gRPC: grpc.health.v1.Health. Its service "" is what the flags ask for, ready
        and live are the same with that -mode, and any other name is that
        service of the server
  HTTP: /healthz, /readyz and /livez, with 200 or 503; as gRPC calls, with the
        status OK or UNAVAILABLE; /metrics, in OpenMetrics' format

Flags:
`

const helpTail = `
Where a value comes from, first found wins (-v shows it):
  1. a flag
  2. an environment variable: ` + ListenEnv + `,
     ` + AllowEnv + `, ` + NameEnv + `,
     ` + BackgroundEnv + `, and for the others
     GRPC_HEALTH_PROBE_ and the flag in capitals, such as GRPC_HEALTH_PROBE_ADDR
  3. the default flags of the image, ../../config/` + flags.ArgsFileName + `,
     relative to the folder of this program
` + flags.AddressSources + `
Unless you set -timeout, -connect-timeout or -rpc-timeout, everything together
takes at most TIMEOUT: the kubelet waits for one second by default.

SIGTERM ends the bridge with exit code 0. Exit code 1 means that a flag is wrong
or that the bridge cannot listen on its address. With -background the exit code
is always 0: if the bridge cannot start, the container's log has the reason.
`

// onlyOfProbe leaves out of the probe's help what the bridge does not do: it does not try again, and its log has no
// line for each check, which could say how long it took.
var onlyOfProbe = strings.NewReplacer(
	", -wait included", "",
	", how long connecting and the call took, and which listed services are not SERVING", "",
)

// help is the text for -h.
func help() string {
	set := flag.NewFlagSet(Program, flag.ContinueOnError)
	addOwn(set, func(string) string { return "" })
	flags.New(Program, nil).Flags.VisitAll(func(f *flag.Flag) {
		if value, ok := f.Value.(interface{ Unwrap() flag.Value }); ok && lacks[f.Name] == "" {
			set.Var(value.Unwrap(), f.Name, onlyOfProbe.Replace(f.Usage))
		}
	})
	return helpHead + flags.Describe(set) + strings.ReplaceAll(helpTail, "TIMEOUT", Timeout.String())
}
