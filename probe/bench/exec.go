package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// process is one run of a program. Package os/exec is not used: the measurement would include its goroutines and pipes.
type process struct {
	pid   int
	start time.Time
}

// launch starts a program with its output thrown away, as the kubelet does.
func launch(p program, args []string, attr *syscall.SysProcAttr) (process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return process{}, err
	}
	defer null.Close()
	files := []uintptr{null.Fd(), null.Fd(), null.Fd()}
	start := time.Now()
	pid, err := syscall.ForkExec(p.path, append([]string{p.path}, args...),
		&syscall.ProcAttr{Files: files, Env: os.Environ(), Sys: attr})
	if err != nil {
		return process{}, fmt.Errorf("starting %q: %w", p.name, err)
	}
	return process{pid, start}, nil
}

// wait waits for the end of an untraced process.
func (p process) wait(usage *syscall.Rusage) (syscall.WaitStatus, error) {
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(p.pid, &status, 0, usage); err != syscall.EINTR {
			return status, err
		}
	}
}

// passed returns an error unless the process has ended with exit code 0.
func passed(p program, status syscall.WaitStatus) error {
	switch {
	case status.Signaled():
		return fmt.Errorf("running %q: killed by a signal: %v", p.name, status.Signal())
	case status.ExitStatus() != 0:
		return fmt.Errorf("running %q: exit code %d", p.name, status.ExitStatus())
	}
	return nil
}

// timed runs a program once, from fork to exit. The results are the wall time and the CPU time of user and kernel
// together, both in seconds, and the number of page faults. Peak memory is not a result: a child made by vfork begins
// in the memory of the parent, and the child's rusage keeps the parent's peak if higher.
func timed(p program, args []string) (wall, cpu, faults float64, err error) {
	proc, err := launch(p, args, nil)
	if err != nil {
		return 0, 0, 0, err
	}
	var usage syscall.Rusage
	status, err := proc.wait(&usage)
	wall = time.Since(proc.start).Seconds()
	if err != nil {
		return 0, 0, 0, err
	}
	cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
	return wall, cpu, float64(usage.Minflt + usage.Majflt), passed(p, status)
}

// traced runs a program once, and returns the peak of resident memory, in bytes, and of the number of threads. Each
// thread is stopped at its exit: the kernel's record of the process (VmHWM and Threads in /proc/PID/status) is then
// complete, and still present.
func traced(p program, args []string) (memory, threads float64, err error) {
	runtime.LockOSThread() // The kernel takes requests from the tracing thread alone.
	defer runtime.UnlockOSThread()
	// A separate process group makes it possible to wait for all threads of the process and for no other child.
	proc, err := launch(p, args, &syscall.SysProcAttr{Ptrace: true, Setpgid: true})
	if err != nil {
		return 0, 0, err
	}
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-proc.pid, &status, syscall.WALL, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return 0, 0, fmt.Errorf("tracing %q: %w", p.name, err)
		case !status.Stopped() && tid == proc.pid:
			return memory, threads, passed(p, status)
		case !status.Stopped():
			continue
		}
		if status.TrapCause() == syscall.PTRACE_EVENT_EXIT {
			m, t, err := peak(tid)
			if err != nil {
				return 0, 0, fmt.Errorf("tracing %q: %w", p.name, err)
			}
			memory, threads = max(memory, m), max(threads, t)
		}
		if err := resume(proc.pid, tid, status); err != nil {
			return 0, 0, fmt.Errorf("tracing %q: %w", p.name, err)
		}
	}
}

// resume continues a stopped thread. At the first stop, the exec, resume sets the options, which new threads inherit.
func resume(pid, tid int, status syscall.WaitStatus) error {
	signal := 0
	switch stop := status.StopSignal(); {
	case stop == syscall.SIGTRAP && status.TrapCause() == 0 && tid == pid:
		if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACEEXIT|syscall.PTRACE_O_TRACECLONE); err != nil {
			return err
		}
	case stop != syscall.SIGTRAP && stop != syscall.SIGSTOP:
		signal = int(stop) // The runtime of Go sends itself signals.
	}
	err := syscall.PtraceCont(tid, signal)
	if err == syscall.ESRCH { // Killed meanwhile, by the exit of another thread.
		return nil
	}
	return err
}

// peak returns the peak of resident memory, in bytes, and the number of threads of a process. tid is a thread about to
// exit; a thread that has exited has no record.
func peak(tid int) (memory, threads float64, err error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return 0, 0, err
	}
	if memory, err = statusField(status, "VmHWM"); err != nil {
		return 0, 0, err
	}
	threads, err = statusField(status, "Threads")
	return memory * 1024, threads, err
}

// statusField returns a number of /proc/PID/status, in the unit of the file (proc_pid_status(5)).
func statusField(status []byte, name string) (float64, error) {
	for line := range bytes.Lines(status) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		if fields := bytes.Fields(value); string(key) == name && len(fields) > 0 {
			return strconv.ParseFloat(string(fields[0]), 64)
		}
	}
	return 0, fmt.Errorf("finding %s in the status of a process: it is not there", name)
}
