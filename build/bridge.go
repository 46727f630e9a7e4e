package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// Who starts the bridge, as the image's label has it.
const (
	startedByLauncher = "launcher"
	startedByManifest = "manifest"
)

// bridge is the bridge and how it is run, as it is printed and as the image's label has it.
type bridge struct {
	// Command is what runs.
	Command []string `json:"command"`
	// Start says who starts it, the launcher or a manifest.
	Start string `json:"start"`
	// Processes are the process types that the launcher starts it with; none means all.
	Processes []string `json:"processes,omitempty"`
	// Port is where native probes ask it.
	Port    int    `json:"port"`
	Version string `json:"version"`
	Source  string `json:"source"`
	SHA256  string `json:"sha256"`

	// flags are what somebody has to give the bridge, because it does not find it by itself, and remark what is said of
	// them.
	flags  []string
	remark string
	// live is the service that a liveness probe asks the bridge for.
	live string
}

// bridgeProbes is what a manifest has to have for the bridge, as the image's label has it.
type bridgeProbes struct {
	Readiness execprobe.Object `json:"readinessProbe"`
	Liveness  execprobe.Object `json:"livenessProbe"`
	// Env are the variables of the app's container, and InitContainer is the sidecar, whose image is the app's.
	Env           []variable `json:"env,omitempty"`
	InitContainer *sidecar   `json:"initContainer,omitempty"`
	Remarks       []string   `json:"remarks,omitempty"`
}

// variable is an environment variable of a container.
type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// sidecar is a container that runs as long as the app's.
type sidecar struct {
	Name          string   `json:"name"`
	RestartPolicy string   `json:"restartPolicy"`
	Command       []string `json:"command"`
}

// probes returns what a manifest has to have for the bridge, nil without a bridge.
func (b *bridge) probes() *bridgeProbes {
	if b == nil {
		return nil
	}
	all := &bridgeProbes{
		Readiness: execprobe.Object{GRPC: &execprobe.GRPCAction{Port: b.Port}},
		Liveness:  execprobe.Object{GRPC: &execprobe.GRPCAction{Port: b.Port, Service: b.live}},
	}
	remark := b.remark
	if b.isStartedByLauncher() {
		all.Env, remark = b.variables(), variableNames(b.remark)
	} else {
		all.InitContainer = &sidecar{Name: "health-bridge", RestartPolicy: "Always", Command: b.Command}
	}
	if remark != "" {
		all.Remarks = []string{strings.TrimPrefix(remark, " # ")}
	}
	return all
}

// newBridge describes the program p, which is in the folder of the probe; nil for none. HasAddress says that it finds
// the server's address by itself; without that it is given the one of the exec probe.
func newBridge(exec execprobe.Probe, p *program, settings config.Config, hasAddress bool) *bridge {
	if p == nil {
		return nil
	}
	command, remark := exec.CommandOf(filepath.Join(filepath.Dir(exec.Command[0]), p.name), hasAddress)
	b := &bridge{
		Command: command, Start: startedByManifest, Port: bridgeflags.Port, Version: p.version, Source: p.source,
		SHA256: p.sha256, flags: command[1:], remark: remark, live: "live",
	}
	if liveness := exec.Liveness(); liveness != nil {
		b.live = liveness.Service()
	}
	if settings.Bridge == config.BridgeLaunch {
		b.Command, b.Start, b.Processes = command[:1], startedByLauncher, settings.Processes
	}
	return b
}

// starters returns the paths of the links by which the launcher starts the bridge (buildpack specification, exec.d), in
// the folder of a layer.
func (b *bridge) starters(exec libcnb.Exec) []string {
	if !b.isStartedByLauncher() {
		return nil
	}
	if len(b.Processes) == 0 {
		return []string{exec.FilePath(bridgeflags.Starter)}
	}
	var paths []string
	for _, process := range b.Processes {
		paths = append(paths, exec.ProcessFilePath(process, bridgeflags.Starter))
	}
	return paths
}

// isStartedByLauncher reports whether the image starts the bridge by itself.
func (b *bridge) isStartedByLauncher() bool { return b != nil && b.Start == startedByLauncher }

// manifest returns the lines to paste into a manifest, in YAML. What is to be pasted is one line each: pack writes
// "[builder]" before them.
func (b *bridge) manifest() []string {
	all := b.probes()
	probes := []string{
		"# In the app's container, instead of an exec probe:",
		"readinessProbe: " + all.Readiness.String(),
		"livenessProbe: " + all.Liveness.String(),
	}
	if c := all.InitContainer; c != nil {
		return append([]string{
			"# Beside the app's container, from the same image, whose name replaces IMAGE:",
			fmt.Sprintf("initContainers: [{name: %s, image: IMAGE, restartPolicy: %s, command: [%s]}]%s",
				c.Name, c.RestartPolicy, execprobe.Quoted(c.Command), b.remark),
		}, probes...)
	}
	if len(all.Env) > 0 {
		var items []string
		for _, v := range all.Env {
			items = append(items, fmt.Sprintf("{name: %s, value: %q}", v.Name, v.Value))
		}
		probes = append(probes, "env: ["+strings.Join(items, ", ")+"]"+variableNames(b.remark))
	} else if b.remark != "" {
		probes = append(probes, "# In env:"+strings.TrimPrefix(variableNames(b.remark), " #"))
	}
	started := "# The launcher starts it with every process type."
	if len(b.Processes) > 0 {
		started = "# The launcher starts it with the processes " + strings.Join(b.Processes, ", ") + "."
	}
	return append([]string{
		started,
		"# If the container sets `command:`, it bypasses the launcher: no bridge, and probes fail to connect.",
	}, probes...)
}

// variables returns the environment variables that stand for the flags.
func (b *bridge) variables() []variable {
	var all []variable
	for _, flag := range b.flags {
		name, value, hasValue := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if !hasValue {
			value = "true"
		}
		all = append(all, variable{flags.Variable(name), value})
	}
	return all
}

// flagInText matches a flag in a sentence.
var flagInText = lazyregexp.New(` -[a-z-]+`)

// variableNames returns a remark about flags as one about their environment variables.
func variableNames(remark string) string {
	return flagInText.ReplaceAllStringFunc(remark, func(flag string) string {
		name := flags.Variable(strings.TrimPrefix(flag, " -"))
		if flag == " -tls" {
			name += "=true"
		}
		return " " + name
	})
}

// reportBridge logs how the bridge is run, and how to probe it.
func reportBridge(logger log.Logger, b *bridge) {
	logger.Headerf("Bridge: %s", b.Command[0])
	for _, line := range b.manifest() {
		logger.Header("  " + line)
	}
}

// link makes a link by which the launcher starts the bridge.
func (b *bridge) link(path string) error {
	folder := filepath.Dir(path)
	target, err := filepath.Rel(folder, b.Command[0])
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	// The modes must not depend on the build machine's umask. Above a process type's folder is exec.d, and above that
	// the layer's.
	for _, name := range []string{folder, filepath.Dir(folder)} {
		if err == nil {
			err = os.Chmod(name, 0o755)
		}
	}
	if err == nil {
		err = os.Symlink(target, path)
	}
	if err != nil {
		return fmt.Errorf("having the launcher start the bridge: %w", err)
	}
	return nil
}
