package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/grpc-cnb/health-probe/internal/cgroup"
)

// The groups in the cluster's cgroup. In version 2 a group that has groups with controllers in it may have no process
// itself.
const (
	// SystemGroup has what each node of a cluster has: kubelet, kube-proxy, containerd, and what they start outside
	// containers.
	SystemGroup = "system"
	// ControlGroup has the control plane and the registry.
	ControlGroup = "control"
	// PodsGroup has the pods. The kubelet makes it.
	PodsGroup = "kubepods"
)

// groups is the cluster's cgroup: a folder in each hierarchy that is mounted.
type groups []string

// makeGroups makes the cgroup.
func makeGroups(name string) (groups, error) {
	g, err := findGroups(name)
	if err != nil {
		return nil, err
	}
	for _, group := range g {
		if err := makeGroup(group); err != nil {
			return g, err
		}
	}
	return g, favour(name)
}

// makeGroup makes the group in one hierarchy.
func makeGroup(group string) error {
	err := cgroup.Delegate(filepath.Dir(group))
	for _, name := range []string{"", SystemGroup, ControlGroup} {
		if err == nil {
			err = cgroup.Make(filepath.Join(group, name))
		}
	}
	return err
}

// favour gives the cluster more CPU time than others get if all want it: probes have timeouts, and the node is not
// to be late because of what else runs on this machine.
func favour(name string) error {
	hierarchies, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	h, err := cgroup.WithController("cpu", hierarchies)
	if err != nil {
		return err
	}
	return h.Weigh(filepath.Join(h.Folder, name), 10)
}

// findGroups returns where the cgroup is, or will be.
func findGroups(name string) (groups, error) {
	mounted, err := cgroup.Mounted()
	if err != nil {
		return nil, err
	}
	if len(mounted) == 0 {
		return nil, errors.New("finding cgroups: none is mounted")
	}
	var g groups
	for _, h := range mounted {
		g = append(g, filepath.Join(h.Folder, name))
	}
	return g, nil
}

// enter puts a process into a group of the cgroup; 0 is this one.
func (g groups) enter(name string, pid int) error {
	for _, group := range g {
		if err := cgroup.Enter(filepath.Join(group, name), pid); err != nil {
			return err
		}
	}
	return nil
}

// remove removes the cgroup and all groups in it, whose processes have ended.
func (g groups) remove() error {
	var errs []error
	for _, group := range g {
		errs = append(errs, cgroup.Remove(group))
	}
	return errors.Join(errs...)
}

// CPU returns the CPU time that a group in the cluster's cgroup has used, "" being the whole cluster.
func (c *Cluster) CPU(name string) (time.Duration, error) { return count(c, name, cgroup.CPU) }

// Anonymous returns the memory that a group in the cluster's cgroup has and no file, in bytes.
func (c *Cluster) Anonymous(name string) (int64, error) { return count(c, name, cgroup.Anonymous) }

// count reads what a group in the cluster's cgroup uses, in the hierarchy that counts it.
func count[T any](c *Cluster, name string, read func(group string) (T, error)) (used T, err error) {
	g, err := findGroups(filepath.Base(c.folder))
	if err != nil {
		return used, err
	}
	for _, group := range g {
		if used, err = read(filepath.Join(group, name)); err == nil {
			return used, nil
		}
	}
	return used, fmt.Errorf("reading what cgroup %q uses: no hierarchy counts it: %w", name, err)
}
