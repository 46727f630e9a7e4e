// Package label reads the buildpack's label of an image (docs/label.schema.json): from the text of the label to the
// probes for a container of the image. Begin with [Parse].
package label

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Key is the name of the image label.
const Key = "io.github.grpc-cnb.health-probe"

// schema is the supported version of the label's format.
const schema = 1

// maxSize bounds a label, in bytes. The label of an image with 30 servers has 20 kB.
const maxSize = 256 << 10

// Label is an image's description of the probes.
type Label struct {
	Schema int    `json:"schema"`
	Path   string `json:"path"`
	Health string `json:"health"`
	Port   int    `json:"port"`
	// Probes are nil in the labels of older images. Exec, Liveness and Bridge then stand for the probes.
	Probes   *Kinds   `json:"probes"`
	Exec     *command `json:"exec"`
	Liveness *command `json:"liveness"`
	Bridge   *bridge  `json:"bridge"`
}

// Kinds are the probes of each kind; nil for a kind that the image lacks.
type Kinds struct {
	Exec   *Probes `json:"exec"`
	GRPC   *Probes `json:"grpc"`
	Bridge *Probes `json:"bridge"`
}

// Probes are the probes of a kind, with the probes' requirements in a pod.
type Probes struct {
	Readiness     *Probe     `json:"readinessProbe,omitempty"`
	Liveness      *Probe     `json:"livenessProbe,omitempty"`
	Env           []Variable `json:"env,omitempty"`
	InitContainer *Sidecar   `json:"initContainer,omitempty"`
	// Remarks are the values to set in the probes, or the conditions for the probes to pass.
	Remarks []string `json:"remarks,omitempty"`
}

// Probe is a probe of Kubernetes (core/v1 Probe), of a command or of a port.
type Probe struct {
	Exec           *Exec `json:"exec,omitempty"`
	GRPC           *GRPC `json:"grpc,omitempty"`
	TimeoutSeconds int   `json:"timeoutSeconds,omitempty"`
}

// Exec is the command of a probe.
type Exec struct {
	Command []string `json:"command"`
}

// GRPC is the kubelet's question.
type GRPC struct {
	Port    int    `json:"port"`
	Service string `json:"service,omitempty"`
}

// Variable is an environment variable of a container.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Sidecar is the container of a bridge that the image does not start.
type Sidecar struct {
	Name string `json:"name"`
	// Image is the app's image, which the label does not have.
	Image         string   `json:"image,omitempty"`
	RestartPolicy string   `json:"restartPolicy"`
	Command       []string `json:"command"`
}

type command struct {
	Command        []string `json:"command"`
	TimeoutSeconds int      `json:"timeoutSeconds"`
}

type bridge struct {
	Command []string `json:"command"`
	Start   string   `json:"start"`
	Port    int      `json:"port"`
}

// Parse reads the text of a label.
func Parse(text string) (*Label, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("reading the label: it has %d bytes, and no more than %d are read", len(text), maxSize)
	}
	var l Label
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return nil, fmt.Errorf("reading the label: %w", err)
	}
	switch {
	case l.Schema > schema:
		return nil, fmt.Errorf("reading the label: its format is %d, and this program knows %d "+
			"(use a kubectl-grpc_probes of the buildpack's release)", l.Schema, schema)
	case l.Schema != schema || l.Path == "":
		return nil, errors.New("reading the label: it has no format or no path of a probe " +
			"(docs/label.schema.json describes it)")
	}
	if l.Probes == nil {
		l.Probes = l.older()
	}
	for _, p := range []*Probes{l.Probes.Exec, l.Probes.GRPC, l.Probes.Bridge} {
		if err := p.validate(); err != nil {
			return nil, fmt.Errorf("reading the label: %w", err)
		}
	}
	return &l, nil
}

// older returns the probes of a label without any.
func (l *Label) older() *Kinds {
	var k Kinds
	if l.Exec != nil {
		k.Exec = &Probes{Readiness: l.Exec.probe()}
		if l.Liveness != nil {
			k.Exec.Liveness = l.Liveness.probe()
		}
	}
	if b := l.Bridge; b != nil {
		k.Bridge = &Probes{
			Readiness: &Probe{GRPC: &GRPC{Port: b.Port}}, Liveness: &Probe{GRPC: &GRPC{Port: b.Port, Service: "live"}},
		}
		if b.Start == "manifest" {
			k.Bridge.InitContainer = &Sidecar{Name: "health-bridge", RestartPolicy: "Always", Command: b.Command}
		}
	}
	return &k
}

func (c *command) probe() *Probe {
	return &Probe{Exec: &Exec{Command: c.Command}, TimeoutSeconds: c.TimeoutSeconds}
}

// validate returns an error if Kubernetes would refuse the probes.
func (p *Probes) validate() error {
	if p == nil {
		return nil
	}
	if p.Readiness == nil {
		return errors.New("there is no readinessProbe")
	}
	for _, probe := range []*Probe{p.Readiness, p.Liveness} {
		switch {
		case probe == nil:
		case (probe.Exec == nil) == (probe.GRPC == nil):
			return errors.New("a probe needs either exec or grpc")
		case probe.Exec != nil && len(probe.Exec.Command) == 0:
			return errors.New("an exec probe has no command")
		case probe.GRPC != nil && (probe.GRPC.Port < 1 || probe.GRPC.Port > 65535):
			return fmt.Errorf("%d is no port", probe.GRPC.Port)
		case probe.TimeoutSeconds < 0:
			return fmt.Errorf("%d is no timeout", probe.TimeoutSeconds)
		}
	}
	if s := p.InitContainer; s != nil && (s.Name == "" || s.RestartPolicy != "Always" || len(s.Command) == 0) {
		return errors.New("the container of the bridge has no name, no command or does not run always")
	}
	return nil
}

// Kind is the choice among the probes of an image.
type Kind string

// The kinds. Auto is Kubernetes' own probe if sure to ask the exec probe's question, else the bridge if the image
// starts a bridge, else the exec probe.
const (
	Auto   Kind = "auto"
	Native Kind = "native"
	Bridge Kind = "bridge"
	Execed Kind = "exec"
)

// All are all kinds.
func All() []Kind { return []Kind{Auto, Native, Bridge, Execed} }

// Choose returns the probes of a kind. Bypassed says that the container has its own command, and so the image starts no
// bridge.
func (l *Label) Choose(kind Kind, bypassed bool) (*Probes, Kind, error) {
	k := l.Probes
	isStarted := k.Bridge != nil && k.Bridge.InitContainer == nil && !bypassed
	switch {
	case kind == Native && k.GRPC == nil:
		return nil, "", errors.New("the image's label has no probe of Kubernetes' own: none can ask what the image's " +
			"probe asks, or the image is older (take --kind=exec, or build it with " +
			"BP_GRPC_HEALTH_PROBE_BRIDGE=launch and take --kind=bridge)")
	case kind == Bridge && k.Bridge == nil:
		return nil, "", errors.New("the image has no bridge (build it with BP_GRPC_HEALTH_PROBE_BRIDGE=launch)")
	case kind == Bridge && !isStarted && k.Bridge.InitContainer == nil:
		return nil, "", errors.New("the container sets command, so the image does not start its bridge (set args, or " +
			"take --kind=exec)")
	case kind == Native, kind == Auto && k.GRPC != nil && len(k.GRPC.Remarks) == 0:
		return k.GRPC, Native, nil
	case kind == Bridge, kind == Auto && isStarted && len(k.Bridge.Remarks) == 0:
		return k.Bridge, Bridge, nil
	case k.Exec == nil:
		return nil, "", errors.New("the image's label has no exec probe (build the image anew)")
	}
	return k.Exec, Execed, nil
}

// Asks reports whether two probes ask the same, in spite of different timeouts.
func (p *Probe) Asks(other *Probe) bool {
	switch {
	case p.Exec != nil && other.Exec != nil:
		return slices.Equal(p.Exec.Command, other.Exec.Command)
	case p.GRPC != nil && other.GRPC != nil:
		return *p.GRPC == *other.GRPC
	}
	return false
}

// Of returns the probe for a key of a container, nil for none.
func (p *Probes) Of(key string) *Probe {
	if key == "livenessProbe" {
		return p.Liveness
	}
	return p.Readiness
}

// HasNoHealth reports whether every probe would fail, because the app has no health service.
func (l *Label) HasNoHealth() bool { return l.Health == "missing" }
