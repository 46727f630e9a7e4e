package kubelet

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are what a node takes, as Debian's packages containerd, runc and iproute2 have them.
var programs = []string{"containerd", "ctr", "runc", "ip"}

// Needs returns what is missing here to run a node: nil for nothing.
func Needs() error {
	var missing []string
	if os.Geteuid() != 0 {
		missing = append(missing, "root")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	if pluginFolder() == "" {
		missing = append(missing, "the network plugin bridge (containernetworking-plugins)")
	}
	if len(missing) == 0 {
		return nil
	}
	return errors.New(strings.Join(missing, ", "))
}

// pluginFolder is where the network plugins are: Debian's place, or everybody else's. Empty for nowhere.
func pluginFolder() string {
	for _, folder := range []string{"/usr/lib/cni", "/opt/cni/bin"} {
		if _, err := os.Stat(filepath.Join(folder, "bridge")); err == nil {
			return folder
		}
	}
	return ""
}
