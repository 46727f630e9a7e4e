package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Limit is a value for a file of a group.
type Limit struct {
	file, value string
	optional    bool // not every kernel has the file
}

// CPULimit limits CPU time to thousandths of a processor, like Kubernetes: a quota for each 100 ms
// (Documentation/scheduler/sched-bwc.rst).
func (h Hierarchy) CPULimit(thousandths int) []Limit {
	quota := strconv.Itoa(thousandths * 100)
	if h.Version == 2 {
		return []Limit{{file: "cpu.max", value: quota + " 100000"}}
	}
	return []Limit{{file: "cpu.cfs_period_us", value: "100000"}, {file: "cpu.cfs_quota_us", value: quota}}
}

// MemoryLimit limits memory, in MiB, without any swap.
func (h Hierarchy) MemoryLimit(mib int) []Limit {
	bytes := strconv.Itoa(mib << 20)
	if h.Version == 2 {
		return []Limit{{file: "memory.max", value: bytes}, {file: "memory.swap.max", value: "0", optional: true}}
	}
	return []Limit{
		{file: "memory.limit_in_bytes", value: bytes},
		{file: "memory.memsw.limit_in_bytes", value: bytes, optional: true},
	}
}

// Weigh gives a group so many times the CPU time of another group if both want all CPU time.
func (h Hierarchy) Weigh(group string, times int) error {
	file, standard := "cpu.shares", 1024
	if h.Version == 2 {
		file, standard = "cpu.weight", 100
	}
	if err := os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(times*standard)), 0); err != nil {
		return fmt.Errorf("weighing a cgroup: %w", err)
	}
	return nil
}

// MakeLimited makes a group at the top of the hierarchy, with a name that begins with prefix, and returns the folder.
func (h Hierarchy) MakeLimited(prefix string, limits ...Limit) (group string, err error) {
	group, err = os.MkdirTemp(h.Folder, prefix)
	if err != nil {
		return "", fmt.Errorf("making a cgroup: %w", err)
	}
	for _, l := range limits {
		err := os.WriteFile(filepath.Join(group, l.file), []byte(l.value), 0)
		if err != nil && !(l.optional && errors.Is(err, os.ErrNotExist)) {
			return "", errors.Join(fmt.Errorf("limiting a cgroup: %w", err), os.Remove(group))
		}
	}
	return group, nil
}
