package flags

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// stamp is the version and the commit, with a space between, of a program compiled outside version control. The linker
// sets stamp.
var stamp string

// versionLine describes the origin of this binary, a program of the given name.
func versionLine(program string) string {
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
	return fmt.Sprintf("%s %s, commit %s%s, %s\n", program, version, commit, dirty, runtime.Version())
}
