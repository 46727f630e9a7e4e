package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// The roles of a restarted program, in the first argument.
const (
	keeperRole = "cluster-keeper"
	initRole   = "cluster-init"
)

// Main runs the cluster's keeper or init and does not return there; in any other process Main does nothing.
func Main() {
	if len(os.Args) != 5 {
		return
	}
	var role func(folder, logs, bin string) error
	switch os.Args[1] {
	case keeperRole:
		role = keep
	case initRole:
		role = boot
	default:
		return
	}
	if err := role(os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintf(os.Stderr, "error: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	os.Exit(0)
}

// keep runs the cluster until standard input ends, at the end of the caller at the latest, and then removes the
// cluster's groups and files. Standard output gets only the PID of the cluster's init.
func keep(folder, logs, bin string) (err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	groups, err := makeGroups(filepath.Base(folder))
	defer func() { err = errors.Join(err, groups.remove()) }()
	if err != nil {
		return err
	}
	// The signal at the parent's death comes at the death of the creating thread (prctl(2), PR_SET_PDEATHSIG).
	runtime.LockOSThread()
	cluster := exec.Command("/proc/self/exe", initRole, folder, logs, bin)
	cluster.Stderr = os.Stderr
	cluster.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig: syscall.SIGKILL,
	}
	if err := cluster.Start(); err != nil {
		return fmt.Errorf("starting the cluster's init: %w", err)
	}
	fmt.Println(cluster.Process.Pid)
	asked := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(asked)
		_ = cluster.Process.Kill()
	}()
	// The kernel ends the init after every other process of the PID namespace (pid_namespaces(7)).
	err = cluster.Wait()
	select {
	case <-asked:
		return nil
	default:
		return fmt.Errorf("the cluster ended by itself: %w", err)
	}
}
