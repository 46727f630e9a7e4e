package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/internal/cgroup"
)

// cpuLimits are thousandths of a processor, from the share of a sidecar to that of a small app.
var cpuLimits = []int{20, 50, 100}

const (
	// mostMiB is the largest limit of memory to try.
	mostMiB = 256
	// passesNeeded is the number of passes in a row for a limit of memory to be enough: close to the least limit, a
	// single pass is chance.
	passesNeeded = 10
)

// limited is the result of measurements under limits.
type limited struct {
	wall    map[subject]map[int][]float64 // seconds, by limit of CPU time
	memory  map[subject]int               // least limit of memory, in MiB
	leftOut []error                       // why one or both are empty
}

// measureLimits measures under all limits that the cgroups of this machine allow.
func measureLimits(ctx context.Context, c config, protocols []protocol) (l limited, err error) {
	mounted, err := cgroup.Mounted()
	if err != nil {
		return l, err
	}
	if cpu, err := writable("cpu", mounted); err != nil {
		l.leftOut = append(l.leftOut, err)
	} else if l.wall, err = wallUnderLimits(ctx, cpu, c, protocols); err != nil {
		return l, err
	}
	if memory, err := writable("memory", mounted); err != nil {
		l.leftOut = append(l.leftOut, err)
	} else if l.memory, err = leastMemory(ctx, memory, c, protocols); err != nil {
		return l, err
	}
	return l, nil
}

// groupPrefix begins the names of the new cgroups.
const groupPrefix = "grpc-health-probe-bench-"

// writable finds the hierarchy with a controller and makes sure that new cgroups can be made in the hierarchy.
func writable(controller string, mounted []cgroup.Hierarchy) (cgroup.Hierarchy, error) {
	h, err := cgroup.WithController(controller, mounted)
	if err != nil {
		return h, err
	}
	group, err := h.MakeLimited(groupPrefix)
	if err != nil {
		return h, err
	}
	return h, cgroup.Remove(group)
}

// confinedTask is a task in a separate cgroup, with a limit of CPU time.
type confinedTask struct {
	task
	limit int
	group string
}

// wallUnderLimits measures the wall time under each limit of CPU time, in a quarter of the runs. Many probes use the
// same cgroup, as in a container: the kernel hands out the quota to each processor in slices and leaves a millisecond
// there, so the first probe in a new cgroup is stopped where later probes are not. All other tasks run between two
// probes of a cgroup, so that the quota has come back.
func wallUnderLimits(
	ctx context.Context, cpu cgroup.Hierarchy, c config, protocols []protocol,
) (walls map[subject]map[int][]float64, err error) {
	var tasks []confinedTask
	defer func() {
		for _, t := range tasks {
			err = errors.Join(err, cgroup.Remove(t.group))
		}
	}()
	walls = map[subject]map[int][]float64{}
	for _, t := range c.tasks(protocols) {
		walls[t.subject()] = map[int][]float64{}
		for _, limit := range cpuLimits {
			group, err := cpu.MakeLimited(groupPrefix, cpu.CPULimit(limit)...)
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
func leastMemory(
	ctx context.Context, memory cgroup.Hierarchy, c config, protocols []protocol,
) (map[subject]int, error) {
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

// least returns the least number, up to most, for which passes returns true. The search is a bisection, and assumes
// that passes returns true for all greater numbers.
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

func passesUnder(ctx context.Context, memory cgroup.Hierarchy, t task, mib int) (passes bool, err error) {
	group, err := memory.MakeLimited(groupPrefix, memory.MemoryLimit(mib)...)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, cgroup.Remove(group)) }()
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

// confined runs a task once in a cgroup, and returns the wall time, in seconds, and the wait status. The process enters
// the cgroup at the stop of the exec, so the parent's work for the start does not count. Nor does the program's file,
// already in the page cache.
func confined(t task, group string) (wall float64, status syscall.WaitStatus, err error) {
	runtime.LockOSThread() // The kernel takes requests from the tracing thread alone.
	defer runtime.UnlockOSThread()
	proc, err := launch(t.program, t.protocol.args(), &syscall.SysProcAttr{Ptrace: true})
	if err != nil {
		return 0, 0, err
	}
	if _, err := proc.wait(nil); err != nil {
		return 0, 0, err
	}
	err = cgroup.Enter(group, proc.pid)
	start := time.Now()
	err = errors.Join(err, syscall.PtraceDetach(proc.pid))
	status, waited := proc.wait(nil)
	return time.Since(start).Seconds(), status, errors.Join(err, waited)
}
