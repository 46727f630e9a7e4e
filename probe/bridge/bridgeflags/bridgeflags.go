// Package bridgeflags is the command line of the bridge: most flags of the probe, where to listen, and who may ask. In
// go the words of a command line, the environment and the default flags of the image, out come [Flags]. Begin with
// [Read]. The build of an image uses [CheckDefaults].
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
	// Starter is the program's name for the lifecycle's launcher, which starts the bridge in the background.
	Starter = "start_grpc_health_bridge"
	// Port is the default port of the bridge.
	Port = 8086

	// Listen is the flag with the address to answer on.
	Listen = "listen"
	// ListenEnv is the environment variable of -listen.
	ListenEnv = "GRPC_HEALTH_BRIDGE_LISTEN"
	// Allow is the flag with the callers who may ask.
	Allow = "allow"
	// AllowEnv is the environment variable of -allow.
	AllowEnv = "GRPC_HEALTH_BRIDGE_ALLOW"

	// Name is the flag with the name of the bridge.
	Name = "name"
	// NameEnv is the environment variable of -name.
	NameEnv = "GRPC_HEALTH_BRIDGE_NAME"

	// Background is the flag for a separate process.
	Background = "background"
	// BackgroundEnv is the environment variable of -background.
	BackgroundEnv = "GRPC_HEALTH_BRIDGE_BACKGROUND"

	// Timeout is the longest time of everything together without a flag for a time. The kubelet waits for a second by
	// default, and gets the cause before.
	Timeout = 900 * time.Millisecond
)

// Flags are the values of the bridge's command line.
type Flags struct {
	// Listen is host:port or :port.
	Listen string
	// Name is that of the bridge, empty for none.
	Name string
	// Background is whether to run in a separate process.
	Background bool
	// Allow are the networks of callers who may ask; with none, every caller may.
	Allow []netip.Prefix
	// Options are how to reach the server, and what to ask.
	Options options.Options
	// Notes say which variables have no effect and, with -v, the source of each value.
	Notes []string
}

// unsupported are the flags of the probe that the bridge does not have, each with the alternative: the bridge neither
// ends nor tries again, prints no outcome, and has the lean transport.
var unsupported = map[string]outcome.Hint{
	"watch":    "leave it out, and call Health/Watch of the bridge",
	"wait":     "leave it out: the bridge's callers try again",
	"discover": "run grpc_health_probe -discover, which is beside the bridge",
	"o":        "leave it out, and get /healthz of the bridge with Accept: application/json",
	"alts":     onlyFull,
	"spiffe":   onlyFull,
}

const onlyFull outcome.Hint = "use an exec probe of the full variant instead of the bridge"

// Read reads the command line, the environment and the default flags of the image. lookUp knows the names of ports. The
// text is the help or the version if the command line asks for it. The error is a *[outcome.Failure]. besideApp is
// whether the bridge runs in the app's container, where a search can find the server.
func Read(args []string, lookUp address.PortLookup, besideApp bool) (f *Flags, text string, err error) {
	c := flags.New(Program, help)
	c.CanSearch = besideApp && runtime.GOOS == "linux"
	only := addBridgeOnly(c.Flags, os.Getenv)
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
	f = &Flags{Listen: *only.listen, Name: *only.name, Background: *only.background, Options: *options}
	if f.Allow, err = parseNetworks(*only.allow); err == nil {
		err = cmp.Or(checkName(f.Name), checkListen(f.Listen, options, lookUp))
	}
	if err != nil {
		return nil, "", err
	}
	f.Notes = Ignored()
	if c.Verbose() {
		f.Notes = append(append(f.Notes, c.Describe()...), fmt.Sprintf("-%s=%q", Listen, f.Listen),
			fmt.Sprintf("-%s=%q", Allow, *only.allow), fmt.Sprintf("-%s=%q", Name, f.Name))
	}
	return f, "", nil
}

// Ignored returns a note for each variable with the prefix of the bridge's that belongs to no flag.
func Ignored() []string {
	const prefix = "GRPC_HEALTH_BRIDGE_"
	known := []string{prefix + "REPORT"} // that of package background
	only := flag.NewFlagSet(Program, flag.ContinueOnError)
	addBridgeOnly(only, func(string) string { return "" })
	only.VisitAll(func(f *flag.Flag) {
		known = append(known, prefix+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
	})
	return append(flags.IgnoredVariables(prefix, known), flags.New(Program, help).Ignored()...)
}

// parseNetworks parses a list of addresses and networks with commas. The error is a *[outcome.Failure].
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

// parseNetwork parses an address or a network. An IPv4 address may be written as IPv6 (::ffff:10.0.0.7).
func parseNetwork(word string) (network netip.Prefix, ok bool) {
	network, err := netip.ParsePrefix(word)
	if address, notOne := netip.ParseAddr(word); notOne == nil {
		network, err = netip.PrefixFrom(address.WithZone(""), address.BitLen()), nil
	}
	if address := network.Addr(); address.Is4In6() { // fewer bits than the mapping has are invalid
		network = netip.PrefixFrom(address.Unmap(), network.Bits()-(128-32))
	}
	return network.Masked(), err == nil && network.IsValid()
}

// refuse returns a *[outcome.Failure] for a flag that is set and unsupported.
func refuse(c *flags.CommandLine) (err error) {
	c.Flags.VisitAll(func(f *flag.Flag) {
		if hint := unsupported[f.Name]; err == nil && hint != "" && f.Value.String() != f.DefValue {
			source := c.Source(f.Name)
			err = outcome.Misuse(fmt.Errorf("checking flags: the bridge has no -%s (%s)", f.Name, source), hint)
		}
	})
	return err
}

// CheckDefaults returns an error for a default flag of the probe that the bridge does not support.
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

// onlyOfProbe removes from the probe's help what the bridge does not do: try again, and log each check.
var onlyOfProbe = strings.NewReplacer(
	", -wait included", "",
	", how long connecting and the call took, and which listed services are not SERVING", "",
)

// help is the text for -h.
func help() string {
	set := flag.NewFlagSet(Program, flag.ContinueOnError)
	addBridgeOnly(set, func(string) string { return "" })
	flags.New(Program, nil).Flags.VisitAll(func(f *flag.Flag) {
		if value, ok := f.Value.(interface{ Unwrap() flag.Value }); ok && unsupported[f.Name] == "" {
			set.Var(value.Unwrap(), f.Name, onlyOfProbe.Replace(f.Usage))
		}
	})
	return helpHead + flags.Describe(set) + strings.ReplaceAll(helpTail, "TIMEOUT", Timeout.String())
}
