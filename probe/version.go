package probe

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// versionLine says what this binary was built from.
func versionLine() string {
	version, commit, dirty := "(unknown)", "(unknown)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				commit = setting.Value
			case "vcs.modified":
				if setting.Value == "true" {
					dirty = " (dirty)"
				}
			}
		}
	}
	return fmt.Sprintf("grpc_health_probe %s, commit %s%s, %s\n", version, commit, dirty, runtime.Version())
}
