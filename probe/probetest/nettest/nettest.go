//go:build linux

// Package nettest runs the tests of a package in a network of their own, which has nothing but loopback: what listens
// there are the tests' own servers. Begin with [Main].
package nettest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"unsafe"
)

// insideEnv is set in the process that has the network of its own.
const insideEnv = "NETTEST_INSIDE"

// Main is the body of a TestMain. It runs the program of the tests once more, in a user namespace if the user is not
// root, and in a network namespace, and returns the code to exit with. If the machine allows no namespaces, the tests
// fail.
func Main(m *testing.M) int {
	if os.Getenv(insideEnv) != "" {
		if err := BringUpLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, "bringing up loopback:", err)
			return 1
		}
		return m.Run()
	}
	inside := exec.Command("/proc/self/exe", os.Args[1:]...)
	inside.Env = append(os.Environ(), insideEnv+"=1")
	inside.Stdin, inside.Stdout, inside.Stderr = os.Stdin, os.Stdout, os.Stderr
	inside.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		inside.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		inside.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		inside.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	err := inside.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "making a network namespace:", err)
		return 1
	}
	return 0
}

// BringUpLoopback sets the flag IFF_UP of lo (netdevice(7)), in the network namespace of the calling thread.
func BringUpLoopback() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request := struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	_, _, number := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS,
		uintptr(unsafe.Pointer(&request)))
	if number != 0 {
		return number
	}
	return nil
}
