package background

import (
	"os"
	"slices"
	"strconv"
	"syscall"
)

// containerLog returns the container's log, the standard error of the container's first process, or own if the log
// cannot be opened, as for a process of another user. The kubelet reads the standard error of a hook to the end, so the
// bridge must not hold a hook's standard error open.
func containerLog(own *os.File) *os.File {
	first := firstProcess()
	switch first {
	case 0:
		return own
	case os.Getppid():
		return os.Stderr // inherited from the first process
	}
	// The log is a pipe or a terminal. Opening a pipe without a reader would wait.
	const flags = os.O_WRONLY | os.O_APPEND | syscall.O_NOCTTY | syscall.O_NONBLOCK
	log, err := os.OpenFile(procFile(first, "fd/2"), flags, 0)
	if err != nil {
		return own
	}
	return log
}

// firstProcess returns the first process of this container, 0 if unknown.
func firstProcess() int {
	if processes := containerProcesses(); len(processes) > 0 {
		return slices.Min(processes)
	}
	return 0
}

// containerProcesses returns the known processes of this container: those with the same mounts, since the containers of
// a pod may share one list of processes.
func containerProcesses() (pids []int) {
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return nil
	}
	processes, _ := os.ReadDir("/proc") // fails as the link does
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

// IsStarted reports whether the container has a bridge besides this process and its starter, as after a second
// launcher.
func IsStarted() bool {
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(containerProcesses(), func(pid int) bool {
		program, err := os.Stat(procFile(pid, "exe"))
		return err == nil && pid != os.Getppid() && os.SameFile(program, own)
	})
}
