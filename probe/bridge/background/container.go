package background

import (
	"os"
	"slices"
	"strconv"
	"syscall"
)

// containerLog returns the container's log, which is the standard error of the container's first process. A process
// that was started later, such as a hook of the kubelet, has another one, and whoever started it reads that to its end:
// the bridge must not have it open. Own is the answer if the log cannot be opened: the first process may be another
// user's.
func containerLog(own *os.File) *os.File {
	first := firstProcess()
	switch first {
	case 0:
		return own
	case os.Getppid():
		return os.Stderr // what it was given by the first process
	}
	// The log is a pipe or a terminal. Opening a pipe that nobody reads would wait.
	const flags = os.O_WRONLY | os.O_APPEND | syscall.O_NOCTTY | syscall.O_NONBLOCK
	log, err := os.OpenFile(procFile(first, "fd/2"), flags, 0)
	if err != nil {
		return own
	}
	return log
}

// firstProcess returns the first process of this container, 0 if it cannot be told.
func firstProcess() int {
	if processes := neighbours(); len(processes) > 0 {
		return slices.Min(processes)
	}
	return 0
}

// neighbours returns the processes of this container, as far as they can be told: those that have the same mounts. A
// pod may let its containers share processes.
func neighbours() (pids []int) {
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return nil
	}
	processes, _ := os.ReadDir("/proc") // without it there was no link either
	for _, process := range processes {
		pid, err := strconv.Atoi(process.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if mounts, err := os.Readlink(procFile(pid, "ns/mnt")); err == nil && mounts == own {
			pids = append(pids, pid)
		}
	}
	return pids
}

// IsStarted reports whether the container has a bridge already, beside this process and its starter: a second launcher
// finds that of the first.
func IsStarted() bool {
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(neighbours(), func(pid int) bool {
		program, err := os.Stat(procFile(pid, "exe"))
		return err == nil && pid != os.Getppid() && os.SameFile(program, own)
	})
}
