package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// boot is the cluster's init: boot makes the node, starts the programs, and returns at the end of the first program.
func boot(folder, logs, bin string) error {
	groups, err := findGroups(filepath.Base(folder))
	if err == nil {
		err = groups.enter(ControlGroup, 0)
	}
	if err == nil {
		err = errors.Join(mounts(folder), interfaces(), unix.Sethostname([]byte(NodeName)), settings(folder, bin),
			os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH")), os.Setenv("HOME", folder),
			os.Setenv("OTEL_TRACES_EXPORTER", "none")) // the registry's default sends traces to a collector
	}
	if err != nil {
		return err
	}
	children := &children{logs: logs, groups: groups, names: map[int]program{}, ended: make(chan error, 1)}
	early, late := programs(folder)
	for _, p := range early {
		if err := children.start(p); err != nil {
			return err
		}
	}
	go children.reap()
	// Without an answer of the API server, the late programs give up or wait for long.
	go func() {
		c := Cluster{folder: folder}
		if err := c.connect(context.Background(), new(net.Dialer).DialContext); err != nil {
			children.ended <- err
		}
		for _, p := range late {
			if err := children.start(p); err != nil {
				children.ended <- err
			}
		}
	}()
	return <-children.ended
}

// mounts gives the node its own folders in place of the fixed folders of containerd and the kubelet.
func mounts(folder string) error {
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("proc", "/proc", "proc", 0, "")
	}
	for _, place := range []string{"/run", "/var/lib", "/var/log"} {
		if err == nil {
			err = unix.Mount("tmpfs", place, "tmpfs", 0, "mode=755")
		}
	}
	if err != nil {
		return fmt.Errorf("mounting the node's own folders: %w", err)
	}
	return sysctls(filepath.Join(folder, "sysctl"))
}

// sysctls shows the kubelet the kernel settings that the kubelet wants (pkg/kubelet/cm of Kubernetes), so that the
// kubelet sets nothing: the settings are the whole machine's.
func sysctls(folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"vm/overcommit_memory":      "1",
		"vm/panic_on_oom":           "0",
		"kernel/panic":              "10",
		"kernel/panic_on_oops":      "1",
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/keys/root_maxbytes": "25000000",
	} {
		file := filepath.Join(folder, strings.ReplaceAll(name, "/", "."))
		err := os.WriteFile(file, []byte(value), 0o444)
		if err == nil {
			err = unix.Mount(file, filepath.Join("/proc/sys", name), "", unix.MS_BIND, "")
		}
		if err != nil {
			return fmt.Errorf("setting %q for the node: %w", name, err)
		}
	}
	return nil
}

// interfaces brings up loopback and the pods' bridge. The addresses of Services, without an interface, take the default
// route to kube-proxy's rules, which replace the addresses.
func interfaces() error {
	for _, args := range []string{
		"link set lo up",
		"link add " + bridge + " type bridge",
		"address add " + Address + "/16 dev " + bridge,
		"link set " + bridge + " up",
		"route add default dev " + bridge,
	} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			return fmt.Errorf("running ip %s: %w: %s", args, err, out)
		}
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
		return fmt.Errorf("forwarding between pods: %w", err)
	}
	return nil
}

// children are the programs of the init, and processes that lost their parents.
type children struct {
	logs   string
	groups groups
	ended  chan error // gets the end of the first program

	mutex sync.Mutex // from before a program's start until the PID is known
	names map[int]program
}

// start starts a program and appends the output to a log file NAME.log.
func (c *children) start(p program) error {
	log, err := os.OpenFile(filepath.Join(c.logs, p.name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.name, p.args...)
	cmd.Stdout, cmd.Stderr = log, log
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", p.name, err)
	}
	c.names[cmd.Process.Pid] = p
	return c.groups.enter(p.group, cmd.Process.Pid)
}

// reap collects ended processes. The end of a program is the end of the cluster, except for containerd: a killed
// containerd is started again, as systemd does on other nodes.
func (c *children) reap() {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil {
			err = c.lost(pid, status)
		}
		if err != nil {
			c.ended <- err
		}
	}
}

func (c *children) lost(pid int, status unix.WaitStatus) error {
	c.mutex.Lock()
	p, ok := c.names[pid]
	delete(c.names, pid)
	c.mutex.Unlock()
	switch {
	case !ok:
		return nil
	case p.name == containerd && status.Signaled():
		return c.start(p)
	}
	return fmt.Errorf("%s ended with wait status %#x", p.name, uint32(status))
}
