package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// controller is a controller of cgroups, of the first version (a hierarchy each) or the second (one for all).
type controller struct {
	folder string
	second bool
}

// limit is what is written to a file of a cgroup. One that may be absent is of a part of the kernel not every kernel has.
type limit struct {
	file, value string
	mayBeAbsent bool
}

// cpuLimit limits CPU time to thousandths of a processor, as Kubernetes does: so much in each 100 ms
// (Documentation/scheduler/sched-bwc.rst and Documentation/admin-guide/cgroup-v2.rst of Linux).
func (c controller) cpuLimit(thousandths int) []limit {
	quota := strconv.Itoa(thousandths * 100)
	if c.second {
		return []limit{{file: "cpu.max", value: quota + " 100000"}}
	}
	return []limit{{file: "cpu.cfs_period_us", value: "100000"}, {file: "cpu.cfs_quota_us", value: quota}}
}

// memoryLimit limits memory, in MiB, without a way out into swap.
func (c controller) memoryLimit(mib int) []limit {
	bytes := strconv.Itoa(mib << 20)
	if c.second {
		return []limit{{file: "memory.max", value: bytes}, {file: "memory.swap.max", value: "0", mayBeAbsent: true}}
	}
	return []limit{{file: "memory.limit_in_bytes", value: bytes}, {file: "memory.memsw.limit_in_bytes", value: bytes, mayBeAbsent: true}}
}

// findController looks for the controller among the mounts and makes sure that a cgroup can be made.
func findController(name, mounts string) (controller, error) {
	for line := range strings.Lines(mounts) {
		// Device, folder, type, options (proc_pid_mounts(5)).
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		c := controller{folder: fields[1], second: fields[2] == "cgroup2"}
		switch {
		case c.second && c.handsOn(name), fields[2] == "cgroup" && slices.Contains(strings.Split(fields[3], ","), name):
			group, err := c.group(nil)
			if err != nil {
				return controller{}, err
			}
			return c, os.Remove(group)
		}
	}
	return controller{}, fmt.Errorf("finding the cgroup controller %q: none is mounted", name)
}

// handsOn reports whether cgroups in the folder get the controller.
func (c controller) handsOn(name string) bool {
	names, err := os.ReadFile(filepath.Join(c.folder, "cgroup.subtree_control"))
	return err == nil && slices.Contains(strings.Fields(string(names)), name)
}

// group makes a cgroup, to be removed when its processes have ended.
func (c controller) group(limits []limit) (string, error) {
	group, err := os.MkdirTemp(c.folder, "grpc-health-probe-bench-")
	if err != nil {
		return "", fmt.Errorf("making a cgroup: %w", err)
	}
	for _, l := range limits {
		err := os.WriteFile(filepath.Join(group, l.file), []byte(l.value), 0)
		if err != nil && !(l.mayBeAbsent && errors.Is(err, os.ErrNotExist)) {
			return "", errors.Join(fmt.Errorf("limiting a cgroup: %w", err), os.Remove(group))
		}
	}
	return group, nil
}

// enter moves a process into a cgroup.
func enter(group string, pid int) error {
	return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
}
