package build

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/detect"
)

// ownModule is the module of the probe that this buildpack makes.
const ownModule = "github.com/grpc-cnb/health-probe"

// ReadsDefaults tells whether the probe reads the default flags in the config layer, as this project's does. Another
// maker's takes flags from its command line alone.
func (p Probe) ReadsDefaults() bool { return p.from == nil || p.module == ownModule }

// checkUpstreamArgs tells which of the flags grpc-ecosystem's probe does not have (its main.go, v0.4.56).
func checkUpstreamArgs(args []string) error {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	services := 0
	flags.Func("service", "", func(names string) error { services += 1 + strings.Count(names, ","); return nil })
	for _, name := range []string{"addr", "user-agent", "tls-ca-cert", "tls-client-cert", "tls-client-key", "tls-server-name"} {
		flags.String(name, "", "")
	}
	for _, name := range []string{"connect-timeout", "rpc-timeout"} {
		flags.Duration(name, time.Second, "")
	}
	for _, name := range []string{"tls", "tls-no-verify", "alts", "spiffe", "gzip", "v", "version"} {
		flags.Bool(name, false, "")
	}
	flags.Func("rpc-header", "", func(string) error { return nil })
	err := flags.Parse(args)
	if err == nil && services > 1 {
		err = fmt.Errorf("it checks one -service, not %d", services)
	}
	if err != nil {
		return fmt.Errorf("checking $%s for the downloaded probe: %w (use the flags of grpc-ecosystem's probe, or another $%s)", ArgsEnv, err, detect.SourceEnv)
	}
	return nil
}
