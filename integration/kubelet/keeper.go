package kubelet

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

// The roles of a program that is started again, in its first argument.
const (
	keeperRole = "node-keeper"
	initRole   = "node-init"
)

// Main is the program of a node's keeper and init, and does not return in them; in any other process it does nothing.
func Main() {
	if len(os.Args) != 5 {
		return
	}
	var role func(folder, logs, kubelet string) error
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

// keep runs the node until standard input ends, which it does with the caller, however that ends. It then removes
// what the node made. On standard output it prints the PID of the node's init.
func keep(folder, logs, kubelet string) (err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	groups, err := makeGroups(filepath.Base(folder))
	defer func() { err = errors.Join(err, groups.remove()) }()
	if err != nil {
		return err
	}
	// The signal at the parent's death comes when the thread dies that made the child (prctl(2), PR_SET_PDEATHSIG).
	runtime.LockOSThread()
	node := exec.Command("/proc/self/exe", initRole, folder, logs, kubelet)
	node.Stderr = os.Stderr
	node.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig: syscall.SIGKILL,
	}
	if err := node.Start(); err != nil {
		return fmt.Errorf("starting the node's init: %w", err)
	}
	fmt.Println(node.Process.Pid)
	asked := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(asked)
		node.Process.Kill()
	}()
	// The kernel ends the init after every other process of its PID namespace (pid_namespaces(7)).
	err = node.Wait()
	select {
	case <-asked:
		return nil
	default:
		return fmt.Errorf("the node ended by itself: %w", err)
	}
}
