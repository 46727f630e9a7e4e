package kubelet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// groups is the node's cgroup: a folder in each hierarchy that is mounted. Of version 1 each controller has a
// hierarchy, of version 2 there is one for all (Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst of Linux).
type groups []string

// own is the group in the node's cgroup that containerd, the kubelet and what they start outside containers are in. In
// version 2 a group that has groups with controllers in it may have no process itself.
const own = "system"

// makeGroups makes the cgroup.
func makeGroups(name string) (groups, error) {
	g, err := findGroups(name)
	if err != nil {
		return nil, err
	}
	for _, folder := range g {
		parent := filepath.Dir(folder)
		if err := handOn(parent); err != nil {
			return g, err
		}
		for _, group := range []string{folder, filepath.Join(folder, own)} {
			if err := os.Mkdir(group, 0o755); err != nil {
				return g, fmt.Errorf("making the node's cgroup: %w", err)
			}
			if err := inherit(group); err != nil {
				return g, err
			}
		}
	}
	return g, nil
}

// findGroups is where the cgroup is, or will be.
func findGroups(name string) (groups, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	var g groups
	for line := range strings.Lines(string(mounts)) {
		// Device, folder, type, options (proc_pid_mounts(5)).
		fields := strings.Fields(line)
		if len(fields) > 3 && (fields[2] == "cgroup" || fields[2] == "cgroup2") {
			g = append(g, filepath.Join(fields[1], name))
		}
	}
	if len(g) == 0 {
		return nil, errors.New("finding cgroups: none is mounted")
	}
	return g, nil
}

// handOn gives the groups below one of version 2 its controllers.
func handOn(folder string) error {
	controllers, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // version 1
	}
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(controllers)) {
		if err := os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte("+"+name), 0); err != nil {
			return fmt.Errorf("handing cgroup controller %q on in %q: %w", name, folder, err)
		}
	}
	return nil
}

// inherit takes the processors and memory nodes of the parent, without which a group of the version 1 controller cpuset
// takes no process.
func inherit(folder string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		if _, err := os.Stat(filepath.Join(folder, "cgroup.clone_children")); err != nil {
			return nil // version 2
		}
		value, err := os.ReadFile(filepath.Join(filepath.Dir(folder), file))
		if errors.Is(err, os.ErrNotExist) {
			return nil // another controller
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, file), value, 0)
		}
		if err != nil {
			return fmt.Errorf("setting %q of the node's cgroup: %w", file, err)
		}
	}
	return nil
}

// enter puts this process into the cgroup.
func (g groups) enter() error {
	for _, folder := range g {
		if err := os.WriteFile(filepath.Join(folder, own, "cgroup.procs"), []byte("0"), 0); err != nil {
			return fmt.Errorf("entering the node's cgroup: %w", err)
		}
	}
	return nil
}

// remove removes the cgroup and all groups in it, whose processes have ended.
func (g groups) remove() error {
	var errs []error
	for _, folder := range g {
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			err := removeGroup(folder)
			// A group is busy until the kernel is done with its last process.
			if errors.Is(err, unix.EBUSY) && time.Now().Before(deadline) {
				continue
			}
			errs = append(errs, err)
			break
		}
	}
	return errors.Join(errs...)
}

// removeGroup removes the folders of a group, the innermost first; its files are the kernel's.
func removeGroup(folder string) error {
	var folders []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
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

// cpu is the CPU time that a group (empty for the whole cgroup) has used.
func (g groups) cpu(group string) (time.Duration, error) {
	for _, folder := range g {
		text, err := os.ReadFile(filepath.Join(folder, group, "cpuacct.usage")) // version 1, nanoseconds
		if err == nil {
			n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			return time.Duration(n), err
		}
		text, err = os.ReadFile(filepath.Join(folder, group, "cpu.stat"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "usage_usec "); ok { // version 2
				n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
				return time.Duration(n) * time.Microsecond, err
			}
		}
	}
	return 0, fmt.Errorf("reading the CPU time of cgroup %q: no hierarchy says", group)
}
