package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/grpc-cnb/health-probe/internal/cgroup"
)

// The groups in the cluster's cgroup. In version 2 a group with controllers in its subgroups may have no process.
const (
	// SystemGroup has the programs of each node of a cluster: kubelet, kube-proxy, containerd, and their child
	// processes outside containers.
	SystemGroup = "system"
	// ControlGroup has the control plane and the registry.
	ControlGroup = "control"
	// PodsGroup has the pods. The kubelet makes PodsGroup.
	PodsGroup = "kubepods"
)

// groups is the cluster's cgroup: a folder in each mounted hierarchy.
type groups []string

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

// makeGroup makes the cgroup in one hierarchy.
func makeGroup(group string) error {
	err := cgroup.Delegate(filepath.Dir(group))
	for _, name := range []string{"", SystemGroup, ControlGroup} {
		if err == nil {
			err = cgroup.Make(filepath.Join(group, name))
		}
	}
	return err
}

// favour gives the cluster more CPU time than the rest of the machine under load: probes have timeouts, and other
// programs must not delay the node.
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

// findGroups returns the folders of the cgroup, existing or not.
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

// enter puts a process into a group of the cgroup; 0 is the current process.
func (g groups) enter(name string, pid int) error {
	for _, group := range g {
		if err := cgroup.Enter(filepath.Join(group, name), pid); err != nil {
			return err
		}
	}
	return nil
}

// remove removes the cgroup with all groups. The groups' processes must have ended.
func (g groups) remove() error {
	var errs []error
	for _, group := range g {
		errs = append(errs, cgroup.Remove(group))
	}
	return errors.Join(errs...)
}

// CPU returns the CPU time of a group in the cluster's cgroup; "" is the whole cluster.
func (c *Cluster) CPU(name string) (time.Duration, error) { return count(c, name, cgroup.CPU) }

// Anonymous returns the memory of a group in the cluster's cgroup that belongs to no file, in bytes.
func (c *Cluster) Anonymous(name string) (int64, error) { return count(c, name, cgroup.Anonymous) }

// count reads the use of a group in the cluster's cgroup, from the first hierarchy that counts the use.
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
