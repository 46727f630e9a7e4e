package cluster

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/cgroup"
)

// Needs returns what this machine lacks to run a cluster; nil for nothing.
func Needs() error {
	var missing []string
	if os.Geteuid() != 0 {
		missing = append(missing, "root")
	}
	if mounted, err := cgroup.Mounted(); err != nil || len(mounted) == 0 {
		missing = append(missing, "cgroups")
	}
	for _, program := range []string{"ip", "iptables"} { // Debian's packages iproute2 and iptables
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	// runc is compiled with libseccomp: without seccomp runc refuses pods with RuntimeDefault.
	if _, err := os.Stat("/usr/include/seccomp.h"); err != nil {
		missing = append(missing, "the headers of libseccomp (libseccomp-dev)")
	}
	if pluginFolder() == "" {
		missing = append(missing, "the network plugin bridge (containernetworking-plugins)")
	}
	if len(missing) == 0 {
		return nil
	}
	return errors.New(strings.Join(missing, ", "))
}

// pluginFolder returns the folder of the network plugins: Debian's, or the usual one. Empty for none.
func pluginFolder() string {
	for _, folder := range []string{"/usr/lib/cni", "/opt/cni/bin"} {
		if _, err := os.Stat(filepath.Join(folder, "bridge")); err == nil {
			return folder
		}
	}
	return ""
}
