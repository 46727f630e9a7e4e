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

// cpuLimits are thousandths of a processor, from what a sidecar gets to what a small app does.
var cpuLimits = []int{20, 50, 100}

const (
	// mostMiB is the largest limit of memory that is tried.
	mostMiB = 256
	// passesNeeded is how many runs in a row must pass for a limit of memory to be enough: close to the least limit it
	// is chance whether one run passes.
	passesNeeded = 10
)

// limited is what was measured under limits.
type limited struct {
	wall    map[subject]map[int][]float64 // seconds, by limit of CPU time
	memory  map[subject]int               // the least limit of memory, in MiB
	leftOut []error                       // why one or both are empty
}

// measureLimits measures what the cgroups of this machine allow to limit.
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

// groupPrefix is what the names of the cgroups that are made begin with.
const groupPrefix = "grpc-health-probe-bench-"

// writable finds the hierarchy with a controller and makes sure that cgroups can be made in it.
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

// confinedTask is a task in a cgroup of its own, with a limit of CPU time.
type confinedTask struct {
	task
	limit int
	group string
}

// wallUnderLimits measures the wall time under each limit of CPU time, in a quarter of the runs. A cgroup is used for
// many probes, as that of a container is: the kernel hands out its quota to each processor in slices and leaves a
// millisecond there, so the first probe in a new cgroup is stopped where later ones are not. All other tasks run
// between two probes of a cgroup, so that its quota has come back.
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

// least returns the least number, up to most, for which passes returns true. It searches by bisection, so it assumes
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

// confined runs a task once in a cgroup, and returns how long it took, in seconds, and how it ended. The process enters
// the cgroup when it stops at its exec, so what the parent does to start it does not count. The program's file is in
// the page cache already, and does not count either.
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
	err = cgroup.Enter(group, proc.pid)
	start := time.Now()
	err = errors.Join(err, syscall.PtraceDetach(proc.pid))
	status, waited := proc.wait(nil)
	return time.Since(start).Seconds(), status, errors.Join(err, waited)
}
