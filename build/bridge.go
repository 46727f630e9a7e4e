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

// The starter of the bridge in the image's label.
const (
	startedByLauncher = "launcher"
	startedByManifest = "manifest"
)

// bridge describes the bridge and its start, for the log and for the image's label.
type bridge struct {
	Command []string `json:"command"`
	// Start is the starter, the launcher or a manifest.
	Start string `json:"start"`
	// Processes are the process types with which the launcher starts the bridge; none means all.
	Processes []string `json:"processes,omitempty"`
	// Port is the port for native probes.
	Port    int    `json:"port"`
	Version string `json:"version"`
	Source  string `json:"source"`
	SHA256  string `json:"sha256"`

	// flags are the flags that the bridge needs and does not find, and remark is the remark on the flags.
	flags  []string
	remark string
	// live is the bridge's service for liveness probes.
	live string
}

// probes returns the bridge's part of a manifest, nil without a bridge.
func (b *bridge) probes() *execprobe.BridgeProbes {
	if b == nil {
		return nil
	}
	all := &execprobe.BridgeProbes{
		Readiness: execprobe.Object{GRPC: &execprobe.GRPCAction{Port: b.Port}},
		Liveness:  execprobe.Object{GRPC: &execprobe.GRPCAction{Port: b.Port, Service: b.live}},
	}
	remark := b.remark
	if b.isStartedByLauncher() {
		all.Env, remark = b.variables(), variableNames(b.remark)
	} else {
		all.InitContainer = &execprobe.Sidecar{Name: "health-bridge", RestartPolicy: "Always", Command: b.Command}
	}
	if remark != "" {
		all.Remarks = []string{strings.TrimPrefix(remark, " # ")}
	}
	return all
}

// newBridge describes the program p in the probe's folder; nil for none. HasAddress says that p finds the server's
// address without a flag; otherwise p gets the address of the exec probe.
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

// starters returns the paths of the links in a layer's folder for the launcher's start of the bridge (buildpack
// specification, exec.d).
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

func (b *bridge) isStartedByLauncher() bool { return b != nil && b.Start == startedByLauncher }

// manifest returns the lines to paste into a manifest, in YAML. Each field is a single line, since pack writes
// "[builder]" before every line.
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

// variables returns the flags as environment variables.
func (b *bridge) variables() []execprobe.Variable {
	var all []execprobe.Variable
	for _, flag := range b.flags {
		name, value, hasValue := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if !hasValue {
			value = "true"
		}
		all = append(all, execprobe.Variable{Name: flags.Variable(name), Value: value})
	}
	return all
}

var flagInText = lazyregexp.New(` -[a-z-]+`)

// variableNames replaces the flags in a remark by the names of the environment variables.
func variableNames(remark string) string {
	return flagInText.ReplaceAllStringFunc(remark, func(flag string) string {
		name := flags.Variable(strings.TrimPrefix(flag, " -"))
		if flag == " -tls" {
			name += "=true"
		}
		return " " + name
	})
}

func reportBridge(logger log.Logger, b *bridge) {
	logger.Headerf("Bridge: %s", b.Command[0])
	for _, line := range b.manifest() {
		logger.Header("  " + line)
	}
}

// link makes a link for the launcher's start of the bridge.
func (b *bridge) link(path string) error {
	folder := filepath.Dir(path)
	target, err := filepath.Rel(folder, b.Command[0])
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	// The modes must not depend on the build machine's umask. Above a process type's folder is exec.d, and above exec.d
	// the layer's folder.
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
