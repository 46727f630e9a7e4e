package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// insideArg makes this program the first process of an app's namespaces.
const insideArg = "inside-the-namespaces"

// The time limits: until the app's probe passes, and for all work in the namespaces.
const (
	startTime  = 25 * time.Second
	insideTime = 90 * time.Second
)

// job is the task of the process in the namespaces.
type job struct {
	App       app
	Folder    string
	Buildpack string
}

// result has the findings of the process in the namespaces.
type result struct {
	App       app
	Log       []string   // of the build phase
	Printed   printed    // the exec probe in the log
	Claims    []claim    // the servers in the label; the first server leads
	Code      int        // the printed probe's exit code
	Said      string     // the printed probe's output
	Asked     []string   // the addresses of the servers that decided the exit code
	Listeners []listener // the app's gRPC addresses
	Output    string     // the end of the app's output
}

// serve runs the build phase, the app and the probe in separate namespaces.
func (c checker) serve(ctx context.Context, a app, p place) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, insideTime)
	defer cancel()
	file := filepath.Join(p.folder, "job.json")
	data, err := json.Marshal(job{a, p.folder, c.buildpack})
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return result{}, fmt.Errorf("writing what to do: %w", err)
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", insideArg, file)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		// The kernel ends all processes of the namespace together with the first process (pid_namespaces(7)).
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC |
			syscall.CLONE_NEWUTS,
		Pdeathsig: syscall.SIGKILL,
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, &said, time.Second
	if err := cmd.Run(); err != nil {
		return result{}, fmt.Errorf("running the app %q in namespaces (it needs root): %w: %s", a.Name, err,
			tail(said.String()))
	}
	var r result
	data, err = os.ReadFile(filepath.Join(p.folder, "result.json"))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// inside does a job as the first process of the namespaces.
func inside(file string) error {
	var j job
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &j)
	}
	if err != nil {
		return fmt.Errorf("reading what to do: %w", err)
	}
	out, err := os.Create(filepath.Join(j.Folder, "result.json"))
	if err != nil {
		return err
	}
	if err := enter(j); err != nil {
		return err
	}
	r, err := j.do()
	return errors.Join(err, json.NewEncoder(out).Encode(r))
}

// do runs the build phase, starts the app, and asks the app's servers.
func (j job) do() (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), insideTime-5*time.Second)
	defer cancel()
	c := checker{buildpack: j.Buildpack}
	log, err := c.phase(ctx, "build", j.App, place{j.Folder}, workspace, "CNB_LAYERS_DIR="+layers,
		"CNB_BP_PLAN_PATH="+place{j.Folder}.plan()).CombinedOutput()
	if err != nil {
		return result{}, fmt.Errorf("running build: %w: %s", err, tail(string(log)))
	}
	r := result{App: j.App, Log: strings.Split(strings.TrimSpace(string(log)), "\n")}
	if r.Printed, err = findProbe(r.Log); err != nil {
		return r, err
	}
	if r.Claims, err = readClaims(layers); err != nil {
		return r, err
	}
	var said bytes.Buffer
	server := j.shell(ctx, j.App.Run)
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		return r, fmt.Errorf("starting %q: %w", j.App.Run, err)
	}
	if err := j.untilItListens(ctx); err != nil {
		return r, err
	}
	r.Code, r.Said = j.untilItAnswers(ctx, r.Printed)
	if r.Asked, err = j.asked(ctx, r.Printed); err != nil {
		return r, err
	}
	r.Listeners, err = j.listeners(ctx)
	r.Output = tail(said.String())
	return r, err
}

// again is the interval between tries.
const again = 250 * time.Millisecond

// untilItListens waits until the app serves gRPC, or until the end of startTime.
func (j job) untilItListens(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	next := time.NewTicker(again)
	defer next.Stop()
	for {
		if serving, err := j.listeners(ctx); err != nil || len(serving) > 0 {
			return err
		}
		select {
		case <-next.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// untilItAnswers repeats the printed probe like a kubelet, until the probe passes, until time cannot change the exit
// code, or until the end of startTime.
func (j job) untilItAnswers(ctx context.Context, p printed) (code int, said string) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	next := time.NewTicker(again)
	defer next.Stop()
	for {
		probe := j.probe(ctx, p)
		out, err := probe.CombinedOutput()
		if ctx.Err() != nil {
			return code, said
		}
		code, said = probe.ProcessState.ExitCode(), strings.TrimSpace(string(out))
		if err == nil || code == exitUsage || code == exitRPC {
			return code, said
		}
		select {
		case <-next.C:
		case <-ctx.Done():
			return code, said
		}
	}
}

// probe returns the printed probe, with more flags.
func (j job) probe(ctx context.Context, p printed, flags ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Command[0], append(slices.Clone(p.Command[1:]), flags...)...)
	cmd.Dir, cmd.Env = workspace, j.env()
	return cmd
}

// asked returns the addresses of the servers that decide the printed probe's exit code.
func (j job) asked(ctx context.Context, p printed) ([]string, error) {
	var answer struct{ Address string }
	out, err := j.probe(ctx, p, "-o=json").Output()
	if _, isExit := errors.AsType[*exec.ExitError](err); err != nil && !isExit {
		return nil, fmt.Errorf("executing the printed probe: %w", err)
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, fmt.Errorf("reading what the printed probe says in JSON: %w", err)
	}
	return strings.Split(answer.Address, ", "), nil
}

// The probe's exit codes that time does not change: wrong flags, and a failed call.
const (
	exitUsage = 1
	exitRPC   = 3
)

// shell returns a command for a script in the app's folder.
func (j job) shell(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
	cmd.Dir, cmd.Env = workspace, j.env()
	return cmd
}

// env returns the environment of the app's container.
func (j job) env() []string {
	return append([]string{
		"PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "OUT=" + place{j.Folder}.out(),
	}, j.App.Env...)
}
