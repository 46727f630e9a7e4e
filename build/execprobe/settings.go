package execprobe

import (
	"fmt"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// ReadSettings reads the build variables, given the defaults, and returns the settings with the meaning of the probe's
// default flags. The settings complete the flags, except for a downloaded program, which has no -discover. The parsers
// of the probe and of the bridge check the flags; the error has the hint.
func ReadSettings(given map[string]string) (config.Config, flags.Defaults, error) {
	settings := config.Read(given)
	if err := settings.Err(); err != nil {
		return settings, flags.Defaults{}, err
	}
	if !settings.Discover && settings.Source != config.Download {
		settings.Args = append([]string{"-discover=false"}, settings.Args...)
	}
	defaults, err := Defaults(settings.Args)
	if err == nil && settings.Bridge != config.BridgeFalse {
		if err = outcome.WithHint(bridgeflags.CheckDefaults(settings.Args)); err != nil {
			err = fmt.Errorf("checking $%s for $%s: %w", config.ArgsEnv, config.BridgeEnv, err)
		}
	}
	return settings, defaults, err
}
