// Package manifest writes probes into the manifests of Kubernetes and leaves all other bytes unchanged: the text of
// a file goes in, and the containers, then the changed text, come out. The YAML parser gives the places of the
// containers. After the change the text is parsed again, and must have the old meaning with the probes.
//
// Begin with [Parse], then [File.Containers].
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
)

// MaxSize bounds a file, in bytes, and maxDocuments the number of documents in a file.
const (
	MaxSize      = 16 << 20
	maxDocuments = 10_000
)

// File is a file of YAML or JSON with any number of documents.
type File struct {
	text      []byte
	starts    []int // the start of each line
	documents []*yaml.Node
	edits     []edit
}

// Container is a container of a pod or of a pod's template.
type Container struct {
	// Workload is the kind and the name of the container's object, as in "Deployment/shop".
	Workload, Name, Image string
	// HasCommand says that the container does not run the image's own command.
	HasCommand bool

	file      *File
	node, pod *yaml.Node
}

// Parse reads the text of a file.
func Parse(text []byte) (*File, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("reading YAML: it has %d bytes, and no more than %d are read", len(text), MaxSize)
	}
	if !utf8.Valid(text) {
		return nil, errors.New("reading YAML: it is not UTF-8")
	}
	documents, err := decode(text)
	if err != nil {
		hint := ""
		if bytes.Contains(text, []byte("{{")) {
			hint = " (it looks like a template: write it out first, as with helm template)"
		}
		return nil, fmt.Errorf("reading YAML: %w%s", err, hint)
	}
	return &File{text: text, starts: lineStarts(text), documents: documents}, nil
}

// decode returns the documents of a text.
func decode(text []byte) ([]*yaml.Node, error) {
	var all []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case len(all) == maxDocuments:
			return nil, fmt.Errorf("it has more than %d documents", maxDocuments)
		}
		all = append(all, &document)
	}
}

// IsResourceList reports whether the file is kustomize's and kpt's input of a function (KRM Functions Specification).
func (f *File) IsResourceList() bool {
	return len(f.documents) == 1 && len(f.documents[0].Content) == 1 &&
		scalar(f.documents[0].Content[0], "kind") == "ResourceList"
}

// FunctionConfig returns the settings of a function, from the data of a ConfigMap.
func (f *File) FunctionConfig() map[string]string {
	data := get(get(f.documents[0].Content[0], "functionConfig"), "data")
	settings := map[string]string{}
	for i := 0; data != nil && i+1 < len(data.Content); i += 2 {
		settings[data.Content[i].Value] = data.Content[i+1].Value
	}
	return settings
}

// ignored is the value of the annotation, named as the image label, of a workload or a pod that wants no probes.
const ignored = "ignore"

// Containers returns the containers that run as long as their pods, in the order of the file.
func (f *File) Containers() []*Container {
	var all []*Container
	for _, document := range f.documents {
		if len(document.Content) > 0 {
			all = append(all, f.containersOf(document.Content[0])...)
		}
	}
	return all
}

// groups are the API groups of workloads.
var groups = map[string]bool{"": true, "apps": true, "batch": true}

func (f *File) containersOf(object *yaml.Node) []*Container {
	var all []*Container
	kind := scalar(object, "kind")
	if strings.HasSuffix(kind, "List") {
		if items := get(object, "items"); items != nil && items.Kind == yaml.SequenceNode {
			for _, item := range items.Content {
				all = append(all, f.containersOf(item)...)
			}
		}
		return all
	}
	group, _, isGrouped := strings.Cut(scalar(object, "apiVersion"), "/")
	if !isGrouped {
		group = ""
	}
	pod := podOf(object, kind)
	if pod == nil || !groups[group] || isIgnored(object) || isIgnored(pod) {
		return nil
	}
	spec := get(pod, "spec")
	containers := get(spec, "containers")
	if containers == nil || containers.Kind != yaml.SequenceNode {
		return nil
	}
	for _, c := range containers.Content {
		if c.Kind == yaml.MappingNode {
			all = append(all, &Container{
				Workload: kind + "/" + scalar(get(object, "metadata"), "name"),
				Name:     scalar(c, "name"), Image: scalar(c, "image"), HasCommand: get(c, "command") != nil,
				file: f, node: c, pod: spec,
			})
		}
	}
	return all
}

// podOf returns the pod, or the template of pods, of an object; nil for an object without any.
func podOf(object *yaml.Node, kind string) *yaml.Node {
	switch kind {
	case "Pod":
		return object
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job":
		return get(get(object, "spec"), "template")
	case "CronJob":
		return get(get(get(get(object, "spec"), "jobTemplate"), "spec"), "template")
	}
	return nil
}

func isIgnored(object *yaml.Node) bool {
	return scalar(get(get(object, "metadata"), "annotations"), label.Key) == ignored
}

// get returns the value of a key in a mapping, nil for none.
func get(mapping *yaml.Node, key string) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// scalar returns the text of a key in a mapping, "" for none.
func scalar(mapping *yaml.Node, key string) string {
	if value := get(mapping, key); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

func isNull(value *yaml.Node) bool { return value.Tag == "!!null" }
