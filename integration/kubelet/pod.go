package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Pod is what the kubelet says of a pod (v1.Pod of Kubernetes), as far as it is looked at here.
type Pod struct {
	Metadata struct{ Name string }
	Status   struct {
		Phase                 string
		PodIP                 string
		Conditions            []struct{ Type, Status string }
		ContainerStatuses     []Container
		InitContainerStatuses []Container
	}
}

// Container is the status of a container.
type Container struct {
	Name         string
	Ready        bool
	Started      bool
	RestartCount int
	State        struct{ Running, Waiting, Terminated *struct{ Reason string } }
}

// Ready is the pod's condition of that name: whether it gets traffic.
func (p Pod) Ready() bool {
	for _, condition := range p.Status.Conditions {
		if condition.Type == "Ready" {
			return condition.Status == "True"
		}
	}
	return false
}

// App is the status of the first container; zero before there is one.
func (p Pod) App() Container {
	if len(p.Status.ContainerStatuses) == 0 {
		return Container{}
	}
	return p.Status.ContainerStatuses[0]
}

// Add gives the kubelet a static pod: a whole manifest, in YAML or JSON. The name is the one in there. The kubelet
// appends its node's name to it, which no other call here does.
func (n *Node) Add(name string, manifest []byte) error {
	// The kubelet passes over files that begin with a dot, so it sees no half one.
	fresh := filepath.Join(staticPods(n.folder), "."+name)
	return errors.Join(os.WriteFile(fresh, manifest, 0o644), os.Rename(fresh, n.manifest(name)))
}

// Remove takes a static pod away. Its containers end soon after.
func (n *Node) Remove(name string) error {
	return os.Remove(n.manifest(name))
}

func (n *Node) manifest(name string) string {
	return filepath.Join(staticPods(n.folder), name+".yaml")
}

// Pods are all pods of the node, by the names that Add has.
func (n *Node) Pods(ctx context.Context) (map[string]Pod, error) {
	text, err := n.get(ctx, "/pods")
	if err != nil {
		return nil, err
	}
	var list struct{ Items []Pod }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("reading the kubelet's pods: %w", err)
	}
	pods := map[string]Pod{}
	for _, pod := range list.Items {
		pods[strings.TrimSuffix(pod.Metadata.Name, "-"+nodeName)] = pod
	}
	return pods, nil
}
