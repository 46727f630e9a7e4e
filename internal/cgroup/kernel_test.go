package cgroup

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// These tests are for the kernel, in whichever version this machine has. integration/cgroup2 runs them in version 2.

// made makes a group with a controller, and limits if it is to have any.
func made(t *testing.T, controller string, limits func(h Hierarchy) []Limit) (h Hierarchy, group string) {
	t.Helper()
	mounted, err := Mounted()
	if err == nil {
		h, err = WithController(controller, mounted)
	}
	if err == nil {
		var all []Limit
		if limits != nil {
			all = limits(h)
		}
		group, err = h.MakeLimited("cgroup-test-", all...)
	}
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("needs root and cgroups: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Remove(group); err != nil {
			t.Error(err)
		}
	})
	return h, group
}

// start starts a program in groups.
func start(t *testing.T, cmd *exec.Cmd, groups ...string) {
	t.Helper()
	cmd.Args = append([]string{"sh", "-c", `read go; exec "$0" "$@"`}, cmd.Args...)
	cmd.Path = "/bin/sh"
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	for _, group := range groups {
		if err := Enter(group, cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
}

// A program with a fifth of a processor has at most two fifths of the time, since the kernel hands out its slices
// before they are used.
func TestKernelLimitsAndCountsCPUTime(t *testing.T) {
	t.Parallel()
	h, limited := made(t, "cpu", func(h Hierarchy) []Limit { return h.CPULimit(200) })
	groups := []string{limited}
	if h.Version == 1 {
		_, counting := made(t, "cpuacct", nil)
		groups = append(groups, counting)
	}
	if err := h.Weigh(limited, 10); err != nil {
		t.Error(err)
	}
	busy := exec.Command("sh", "-c", "while :; do :; done")
	began := time.Now()
	start(t, busy, groups...)
	time.AfterFunc(time.Second, func() { _ = busy.Process.Kill() })
	_ = busy.Wait() // it was killed
	wall := time.Since(began)
	used, err := CPU(groups[len(groups)-1])
	if err != nil {
		t.Fatal(err)
	}
	if used > wall*2/5 {
		t.Errorf("in %v it has used %v", wall, used)
	}
	if own := busy.ProcessState.UserTime() + busy.ProcessState.SystemTime(); used < own/2 || used > 2*own {
		t.Errorf("the group has used %v, and its process %v", used, own)
	}
}

// A program that needs 32 MiB is killed with half of it, and counted otherwise.
func TestKernelLimitsAndCountsMemory(t *testing.T) {
	t.Parallel()
	const needs = 32
	for limit, isKilled := range map[int]bool{needs / 2: true, 2 * needs: false} {
		_, group := made(t, "memory", func(h Hierarchy) []Limit { return h.MemoryLimit(limit) })
		// It has filled its memory as soon as it writes, and then waits for a reader.
		hold := exec.Command("dd", "if=/dev/zero", "bs=32M", "count=1")
		out, err := hold.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		start(t, hold, group)
		if _, err = out.Read(make([]byte, 1)); (err != nil) != isKilled {
			t.Fatalf("with %d MiB: %v, killed is to be %v", limit, err, isKilled)
		}
		if isKilled {
			_ = hold.Wait()
			if status, ok := hold.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.Errorf("with %d MiB it ends with %v, not killed", limit, hold.ProcessState)
			}
		} else if held, err := Anonymous(group); held < needs<<20 || held > 2*needs<<20 {
			t.Errorf("of %d MiB %d bytes are counted: %v", needs, held, err)
		}
	}
}

func TestKernelHasDelegatedControllersBelow(t *testing.T) {
	t.Parallel()
	_, group := made(t, "memory", nil)
	if err := Delegate(group); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(group, "below")
	if err := Make(below); err != nil {
		t.Fatal(err)
	}
	if _, err := Anonymous(below); err != nil {
		t.Error(err)
	}
}
