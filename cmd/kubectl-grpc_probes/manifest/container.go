package manifest

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
)

// The keys of a container's probes.
const (
	Readiness = "readinessProbe"
	Liveness  = "livenessProbe"
)

// handlers are the keys of a probe that define the question, with the timeout, which the image knows.
var handlers = []string{"exec", "grpc", "httpGet", "tcpSocket", "timeoutSeconds"}

// String returns the workload and the name of the container, for messages.
func (c *Container) String() string { return fmt.Sprintf("%s, container %q", c.Workload, c.Name) }

// Probe returns a probe of the container, nil for none. A probe with neither a command nor gRPC is empty.
func (c *Container) Probe(key string) *label.Probe {
	value := get(c.node, key)
	if value == nil || isNull(value) {
		return nil
	}
	var text struct {
		Exec           *struct{ Command []string }
		GRPC           *label.GRPC `yaml:"grpc"`
		TimeoutSeconds int         `yaml:"timeoutSeconds"`
	}
	if err := value.Decode(&text); err != nil {
		return &label.Probe{} // it is of another kind, whatever it is
	}
	p := &label.Probe{GRPC: text.GRPC, TimeoutSeconds: text.TimeoutSeconds}
	if text.Exec != nil {
		p.Exec = &label.Exec{Command: text.Exec.Command}
	}
	return p
}

// SetProbe sets a probe of the container. Keys of an old probe that do not define the question, such as the period,
// stay.
func (c *Container) SetProbe(key string, p *label.Probe) error {
	value, err := nodeOf(p)
	if err != nil {
		return err
	}
	old := get(c.node, key)
	if old == nil {
		return c.file.add(c.node, key, value)
	}
	if old.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(old.Content); i += 2 {
			if !slices.Contains(handlers, old.Content[i].Value) {
				value.Content = append(value.Content, plain(old.Content[i]), plain(old.Content[i+1]))
			}
		}
	}
	return c.file.replace(c.node, key, value)
}

// AddEnv adds the variables that the container lacks.
func (c *Container) AddEnv(variables []label.Variable) error {
	var items []*yaml.Node
	for _, v := range variables {
		if hasNamed(get(c.node, "env"), v.Name) {
			continue
		}
		item, err := nodeOf(v)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	return c.file.appendTo(c.node, "env", items)
}

// AddSidecar adds a container of the same image to the container's pod, to start before the container, unless the pod
// has it. A sidecar of another image is an error.
func (c *Container) AddSidecar(s label.Sidecar) error {
	containers := get(c.pod, "initContainers")
	if !hasNamed(containers, s.Name) {
		s.Image = c.Image
		item, err := nodeOf(s)
		if err != nil {
			return err
		}
		return c.file.appendTo(c.pod, "initContainers", []*yaml.Node{item})
	}
	for _, there := range containers.Content {
		if scalar(there, "name") == s.Name && scalar(there, "image") != c.Image {
			return fmt.Errorf("adding the container %q: the pod has one for the image %q (a pod has one bridge: take "+
				"--kind=exec)", s.Name, scalar(there, "image"))
		}
	}
	return nil
}

func hasNamed(list *yaml.Node, name string) bool {
	return list != nil && slices.ContainsFunc(list.Content, func(n *yaml.Node) bool {
		return scalar(n, "name") == name
	})
}

// nodeOf returns a value as a node, in the order of the type's fields.
func nodeOf(value any) (*yaml.Node, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil { // JSON is YAML
		return nil, err
	}
	return Block(document.Content[0]), nil
}

// Block puts each entry of mappings, and of lists of mappings, on a line. A list of words keeps to one line, as in the
// build's log.
func Block(n *yaml.Node) *yaml.Node {
	switch {
	case n.Kind == yaml.MappingNode:
		n.Style = 0
		for i, c := range n.Content {
			if Block(c); i%2 == 0 || c.Value != "" && c.Kind == yaml.ScalarNode {
				c.Style = 0
			}
		}
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0 && n.Content[0].Kind != yaml.ScalarNode:
		n.Style = 0
		for _, c := range n.Content {
			Block(c)
		}
	}
	return n
}

// plain returns a copy of a node without comments, which the encoder would write elsewhere.
func plain(n *yaml.Node) *yaml.Node {
	c := *n
	c.HeadComment, c.LineComment, c.FootComment, c.Content = "", "", "", nil
	for _, part := range n.Content {
		c.Content = append(c.Content, plain(part))
	}
	return &c
}
