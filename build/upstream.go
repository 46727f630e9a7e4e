package build

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// checkUpstreamArgs returns an error for flags that the probe of grpc-ecosystem lacks. The flags' values are checked
// already.
func checkUpstreamArgs(args []string) error {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	services := 0
	for _, f := range flags.All() {
		switch {
		case !f.Upstream:
		case f.Value == "":
			set.Bool(f.Name, false, "")
		default:
			set.Func(f.Name, "", func(value string) error {
				if f.Name == "service" {
					services += 1 + strings.Count(value, ",")
				}
				return nil
			})
		}
	}
	err := set.Parse(args)
	if err == nil && services > 1 {
		err = fmt.Errorf("it checks one -service, not %d", services)
	}
	if err != nil {
		return fmt.Errorf("checking $%s for the downloaded probe: %w (use the flags of grpc-ecosystem's probe, or "+
			"another $%s)", config.ArgsEnv, err, config.SourceEnv)
	}
	return nil
}
