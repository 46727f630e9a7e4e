package probe

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// stamp is the version and the commit, with a space between, of a program that is compiled outside version control. The
// linker sets it.
var stamp string

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
	if stamp != "" {
		version, commit, _ = strings.Cut(stamp, " ")
		dirty = ""
	}
	return fmt.Sprintf("grpc_health_probe %s, commit %s%s, %s\n", version, commit, dirty, runtime.Version())
}
