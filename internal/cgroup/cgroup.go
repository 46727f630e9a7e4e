// Package cgroup makes Linux control groups, of both versions, to measure programs or run them apart. The mounts of the
// machine and limits go in; groups for processes come out, and the resources used. Begin with [Mounted]. The kernel's
// documents are Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Hierarchy is a mounted hierarchy of groups. Version 1 has a hierarchy for each controller, or for a few; version 2
// has a single hierarchy for all controllers.
type Hierarchy struct {
	// Folder is the mount point.
	Folder string
	// Version is 1 or 2.
	Version int

	options []string // of the mount; in version 1 the options name the controllers
}

// Mounted returns the hierarchies visible to this process, in the order of the mounts.
func Mounted() ([]Hierarchy, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	return parseMounts(string(mounts)), nil
}

// parseMounts reads lines of device, folder, type and options (proc_pid_mounts(5)).
func parseMounts(mounts string) (found []Hierarchy) {
	for line := range strings.Lines(mounts) {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		switch fields[2] {
		case "cgroup":
			found = append(found, Hierarchy{Folder: fields[1], Version: 1, options: strings.Split(fields[3], ",")})
		case "cgroup2":
			found = append(found, Hierarchy{Folder: fields[1], Version: 2})
		}
	}
	return found
}

// WithController returns the hierarchy with a controller, such as "memory", for its groups.
func WithController(name string, hierarchies []Hierarchy) (Hierarchy, error) {
	for _, h := range hierarchies {
		if h.Version == 1 && slices.Contains(h.options, name) || h.Version == 2 && delegates(h.Folder, name) {
			return h, nil
		}
	}
	return Hierarchy{}, fmt.Errorf("finding the cgroup controller %q: none is mounted", name)
}

// delegates reports whether the groups below a group of version 2 have the controller.
func delegates(group, controller string) bool {
	names, err := os.ReadFile(filepath.Join(group, "cgroup.subtree_control"))
	return err == nil && slices.Contains(strings.Fields(string(names)), controller)
}

// Delegate gives all controllers of a group to the groups below. In version 1 there is nothing to do.
func Delegate(group string) error {
	controllers, err := os.ReadFile(filepath.Join(group, "cgroup.controllers"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // version 1
	}
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(controllers)) {
		if err := os.WriteFile(filepath.Join(group, "cgroup.subtree_control"), []byte("+"+name), 0); err != nil {
			return fmt.Errorf("delegating cgroup controller %q in %q: %w", name, group, err)
		}
	}
	return nil
}

// Make makes a group with the processors and memory nodes of the parent group. Without both, a group of the version 1
// controller cpuset takes no process.
func Make(group string) error {
	if err := os.Mkdir(group, 0o755); err != nil {
		return fmt.Errorf("making a cgroup: %w", err)
	}
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		if _, err := os.Stat(filepath.Join(group, "cgroup.clone_children")); errors.Is(err, os.ErrNotExist) {
			return nil // version 2
		}
		value, err := os.ReadFile(filepath.Join(filepath.Dir(group), file))
		if errors.Is(err, os.ErrNotExist) {
			return nil // another controller
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(group, file), value, 0)
		}
		if err != nil {
			return fmt.Errorf("setting %q of a cgroup: %w", file, err)
		}
	}
	return nil
}

// Enter moves a process into a group; pid 0 is the caller.
func Enter(group string, pid int) error {
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
		return fmt.Errorf("entering a cgroup: %w", err)
	}
	return nil
}

// Remove removes a group and all groups below, once the processes have ended, within 10 seconds. A missing group is no
// error.
func Remove(group string) error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := remove(group)
		// A group is busy until the kernel is done with its last process.
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return err
		}
	}
}

// remove removes the folders of a group, the innermost first. The kernel's files in a folder go with the folder.
func remove(group string) error {
	var folders []string
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		return err
	})
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, folder := range slices.Backward(folders) {
		err = errors.Join(err, os.Remove(folder))
	}
	return err
}

// CPU returns the CPU time used by a group. CPU fails in a hierarchy that does not count CPU time.
func CPU(group string) (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(group, "cpuacct.usage")) // version 1, nanoseconds
	if err == nil {
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		return time.Duration(n), err
	}
	text, err = os.ReadFile(filepath.Join(group, "cpu.stat")) // version 2
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "usage_usec "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return time.Duration(n) * time.Microsecond, err
		}
	}
	return 0, fmt.Errorf("reading the CPU time of cgroup %q: it is not counted", group)
}
