package bridgeflags

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// bridgeOnly are the values of the bridge's own flags.
type bridgeOnly struct {
	listen, allow, name *string
	background          *bool
}

// addBridgeOnly adds the bridge's own flags, with the values of their variables as defaults.
func addBridgeOnly(flags *flag.FlagSet, env func(string) string) bridgeOnly {
	background, _ := strconv.ParseBool(env(BackgroundEnv)) // checkBackground has the error
	return bridgeOnly{
		listen: flags.String(Listen, cmp.Or(env(ListenEnv), fmt.Sprintf(":%d", Port)),
			"`address` to answer on: host:port or :port"),
		allow: flags.String(Allow, env(AllowEnv), "`addresses` and networks that may ask, besides the pod itself "+
			"and its gateway, such as 10.0.0.7,10.1.0.0/16; empty lets everyone ask"),
		name: flags.String(Name, env(NameEnv), "`name` of the bridge, for a pod with hostNetwork: it then answers "+
			"questions for this name alone, such as ready@NAME and /readyz@NAME"),
		background: flags.Bool(Background, background, "start the bridge as a separate process in the app's "+
			"container, and exit as soon as it listens: for postStart and scripts"),
	}
}

// checkBackground returns an error for a variable of -background that is no boolean.
func checkBackground() error {
	value := os.Getenv(BackgroundEnv)
	if _, err := strconv.ParseBool(cmp.Or(value, "false")); err != nil {
		return outcome.Misuse(fmt.Errorf("reading environment variable %s: %q is neither true nor false",
			BackgroundEnv, value), "set it to false in a container that needs no bridge")
	}
	return nil
}

// WantedByLauncher reports whether the container's variable asks the launcher for a bridge, and whether it is set. A
// wrong value asks for a bridge, whose [Read] logs the error.
func WantedByLauncher() (wanted, isSet bool) {
	value := os.Getenv(BackgroundEnv)
	wanted, err := strconv.ParseBool(value)
	return value != "" && (wanted || err != nil), value != ""
}

// AsksForBackground reports whether a command line asks for a separate process. f is nil if [Read] has refused the
// words.
func AsksForBackground(f *Flags, words []string) bool {
	if f != nil {
		return f.Background
	}
	return slices.Contains(words, "-"+Background) || slices.Contains(words, "--"+Background)
}

// checkListen returns an error if -listen has no port, or is the server's address: the bridge would ask itself, and
// block a server that starts later. lookUp knows the names of ports.
func checkListen(listen string, o *options.Options, lookUp address.PortLookup) error {
	if strings.HasSuffix(listen, ":") {
		return outcome.Misuse(fmt.Errorf("checking flags: -listen=%q has no port", listen),
			"set it to the port that the probes ask, such as :8086")
	}
	at, err := address.Parse(listen, lookUp)
	if err != nil {
		return nil //nolint:nilerr // listening has a better error
	}
	isServer := slices.ContainsFunc(o.Address.Endpoints, func(e address.Endpoint) bool {
		_, isIP := e.(address.IPEndpoint)
		return isIP && slices.Contains(at.Endpoints, e)
	})
	if !isServer {
		return nil
	}
	return outcome.Misuse(fmt.Errorf("checking flags: the bridge cannot listen on %q: its server does, at %q", listen,
		o.Addr), "set -listen to a port that the app does not use")
}

// maxName is the greatest length of a bridge's name, in bytes, as of a DNS label.
const maxName = 63

// checkName returns an error for a name that a path or a gRPC message would have to escape.
func checkName(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if len(name) <= maxName && strings.Trim(name, letters+"0123456789-.") == "" {
		return nil
	}
	return outcome.Misuse(fmt.Errorf("checking flags: -%s=%q is not up to %d letters, digits, hyphens and dots", Name,
		name, maxName), "set it to the name of the Deployment")
}
