package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// cpuLimits are thousandths of a processor, from what a sidecar gets to what a small app does.
var cpuLimits = []int{20, 50, 100}

const (
	// mostMiB is the largest limit of memory that is tried.
	mostMiB = 256
	// passesNeeded is how many runs in a row make a limit of memory enough: near the least one luck decides.
	passesNeeded = 10
)

// limited says what limits do.
type limited struct {
	wall    map[subject]map[int][]float64 // seconds, by limit of CPU time
	memory  map[subject]int               // the least limit of memory, in MiB
	leftOut []error                       // why one or both are empty
}

// measureLimits measures what the cgroups of this machine allow to limit.
func measureLimits(ctx context.Context, c config, protocols []protocol) (l limited, err error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return l, err
	}
	if cpu, err := findController("cpu", string(mounts)); err != nil {
		l.leftOut = append(l.leftOut, err)
	} else if l.wall, err = wallUnderLimits(ctx, cpu, c, protocols); err != nil {
		return l, err
	}
	if memory, err := findController("memory", string(mounts)); err != nil {
		l.leftOut = append(l.leftOut, err)
	} else if l.memory, err = leastMemory(ctx, memory, c, protocols); err != nil {
		return l, err
	}
	return l, nil
}

// confinedTask is a task under a limit of CPU time, in a cgroup that it has for itself.
type confinedTask struct {
	task
	limit int
	group string
}

// wallUnderLimits measures the wall time under each limit of CPU time, a quarter of the runs. A cgroup outlives its probes,
// as a container's does: the kernel hands its quota to each processor in slices, of which a millisecond stays there, and a
// probe in a cgroup never used before is stopped where a later one is not. All others run between two probes of one, so
// that its quota is there again.
func wallUnderLimits(ctx context.Context, cpu controller, c config, protocols []protocol) (walls map[subject]map[int][]float64, err error) {
	var tasks []confinedTask
	defer func() {
		for _, t := range tasks {
			err = errors.Join(err, os.Remove(t.group))
		}
	}()
	walls = map[subject]map[int][]float64{}
	for _, t := range c.tasks(protocols) {
		walls[t.subject()] = map[int][]float64{}
		for _, limit := range cpuLimits {
			group, err := cpu.group(cpu.cpuLimit(limit))
			if err != nil {
				return nil, err
			}
			tasks = append(tasks, confinedTask{t, limit, group})
		}
	}
	return walls, rounds(ctx, "limiting CPU time", max(1, c.runs/4), tasks, func(t confinedTask, counts bool) error {
		wall, status, err := confined(t.task, t.group)
		if counts {
			walls[t.subject()][t.limit] = append(walls[t.subject()][t.limit], wall)
		}
		return errors.Join(err, passed(t.program, status))
	})
}

// leastMemory finds the least limit of memory under which each program passes.
func leastMemory(ctx context.Context, memory controller, c config, protocols []protocol) (map[subject]int, error) {
	all := map[subject]int{}
	tasks := c.tasks(protocols)
	for i, t := range tasks {
		progress("limiting memory", i+1, len(tasks))
		mib, err := least(mostMiB, func(mib int) (bool, error) { return passesUnder(ctx, memory, t, mib) })
		if err != nil {
			return nil, fmt.Errorf("limiting memory of %q: %w", t.program.name, err)
		}
		all[t.subject()] = mib
	}
	return all, nil
}

// least returns the least number up to most for which passes is true, by bisection: it is taken to be true from there on.
func least(most int, passes func(n int) (bool, error)) (int, error) {
	if ok, err := passes(most); err != nil || !ok {
		return 0, errors.Join(err, fmt.Errorf("even with %d MiB it does not pass", most))
	}
	fails := 0
	for most-fails > 1 {
		middle := (fails + most) / 2
		ok, err := passes(middle)
		switch {
		case err != nil:
			return 0, err
		case ok:
			most = middle
		default:
			fails = middle
		}
	}
	return most, nil
}

func passesUnder(ctx context.Context, memory controller, t task, mib int) (passes bool, err error) {
	group, err := memory.group(memory.memoryLimit(mib))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.Remove(group)) }()
	for range passesNeeded {
		if err := context.Cause(ctx); err != nil {
			return false, err
		}
		if _, status, err := confined(t, group); err != nil || passed(t.program, status) != nil {
			return false, err
		}
	}
	return true, nil
}

// confined runs a task once in a cgroup, and returns how long it took, in seconds, and how it ended. It is moved there when
// it stops at its exec, so that neither the time nor the memory of its start by the parent counts. Its file is in the page
// cache already and counts for nobody.
func confined(t task, group string) (wall float64, status syscall.WaitStatus, err error) {
	runtime.LockOSThread() // The kernel takes requests from the thread alone that traces.
	defer runtime.UnlockOSThread()
	proc, err := launch(t.program, t.protocol.args(), &syscall.SysProcAttr{Ptrace: true})
	if err != nil {
		return 0, 0, err
	}
	if _, err := proc.wait(nil); err != nil {
		return 0, 0, err
	}
	err = enter(group, proc.pid)
	start := time.Now()
	err = errors.Join(err, syscall.PtraceDetach(proc.pid))
	status, waited := proc.wait(nil)
	return time.Since(start).Seconds(), status, errors.Join(err, waited)
}
