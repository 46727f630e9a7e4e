package kubelet

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// boot is the node's init: it makes the node, starts containerd and the kubelet, and returns when one of them ends.
func boot(folder, logs, kubelet string) error {
	groups, err := findGroups(filepath.Base(folder))
	if err == nil {
		err = groups.enter()
	}
	if err == nil {
		err = errors.Join(mounts(folder), interfaces(), unix.Sethostname([]byte(nodeName)), settings(folder))
	}
	if err != nil {
		return err
	}
	containerd, err := start(logs, "containerd", "containerd", "--config", filepath.Join(folder, containerdFile))
	if err != nil {
		return err
	}
	if err := listens(socket(folder)); err != nil {
		return err
	}
	agent, err := start(logs, "kubelet", kubelet, "--config", filepath.Join(folder, kubeletFile),
		"--root-dir", filepath.Join(folder, "kubelet"), "--hostname-override", nodeName, "--node-ip", Address,
		"--housekeeping-interval", "5s", "--v", "2")
	if err != nil {
		return err
	}
	return reap(map[int]string{containerd: "containerd", agent: "the kubelet"})
}

// mounts gives the node folders of its own where it has no say in what containerd and the kubelet write to.
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

// sysctls shows the kubelet the kernel's settings as it wants them (pkg/kubelet/cm of Kubernetes), so that it does not set
// them: they are not the node's alone but the whole machine's.
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

// interfaces brings up loopback and the bridge that the pods will be on.
func interfaces() error {
	for _, args := range []string{
		"link set lo up",
		"link add " + bridge + " type bridge",
		"address add " + Address + "/16 dev " + bridge,
		"link set " + bridge + " up",
	} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			return fmt.Errorf("running ip %s: %w: %s", args, err, out)
		}
	}
	return nil
}

// start starts a program with a log file of its own, and returns its PID.
func start(logs, name string, args ...string) (int, error) {
	log, err := os.Create(filepath.Join(logs, name+".log"))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("starting %s: %w", name, err)
	}
	return cmd.Process.Pid, nil
}

// listens returns when a unix socket accepts connections.
func listens(path string) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("unix", path)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waiting for containerd: %w", err)
		}
	}
}

// reap collects the processes that lost their parents, as an init has to, until one of those with a name ends.
func reap(names map[int]string) error {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if name, ok := names[pid]; ok {
			return fmt.Errorf("%s ended with wait status %#x", name, uint32(status))
		}
	}
}
