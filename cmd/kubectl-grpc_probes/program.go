package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/pflag"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/image"
	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/manifest"
	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/pod"
)

// program has the input, output and flags of all commands.
type program struct {
	in            io.Reader
	out, messages io.Writer

	paths            []string
	kind             label.Kind
	replaces, dryRun bool
	skipsUnreadable  bool
	output           string
	images           image.Reader
	platform         string
	cluster          cluster
}

// cluster has the flags for a pod.
type cluster struct {
	kubeconfig, context, namespace string
	pod, container                 string
	timeout                        time.Duration
}

func (c cluster) connect() (*pod.Pod, error) {
	return pod.Connect(c.kubeconfig, c.context, c.namespace, c.pod, c.timeout)
}

// defaultTimeout is for the answer of an image or a pod.
const defaultTimeout = 30 * time.Second

// parse reads the arguments of a command into the command's flags, and returns the remaining arguments.
func (p *program) parse(command string, args []string) ([]string, error) {
	f := pflag.NewFlagSet("kubectl grpc-probes "+command, pflag.ContinueOnError)
	f.SetOutput(p.out)
	switch command {
	case "print":
		p.imageFlags(f)
		p.outputFlag(f)
	case "patch":
		p.imageFlags(f)
		p.fileFlags(f)
		p.clusterFlags(f)
		f.BoolVar(&p.replaces, "replace", false, "replace probes that ask something else than the image wants")
		f.BoolVar(&p.dryRun, "dry-run", false, "print what would change, and change nothing")
		f.StringVar(&p.cluster.pod, "from-pod", "", "take the probes from what listens in the containers of this "+
			"`POD`, and not from images")
	case "check":
		p.imageFlags(f)
		p.fileFlags(f)
	case "discover":
		p.clusterFlags(f)
		p.outputFlag(f)
		f.StringVarP(&p.cluster.container, "container", "c", "", "a `CONTAINER` of the pod (default all of them)")
	}
	if err := f.Parse(args); err != nil {
		return nil, fmt.Errorf("reading the arguments: %w (%s -h lists the flags)", err, command)
	}
	if p.output != "" && p.output != "yaml" && p.output != "json" {
		return nil, fmt.Errorf("reading the arguments: %q is no output (take yaml or json)", p.output)
	}
	return f.Args(), p.setPlatform(p.platform)
}

func (p *program) setPlatform(text string) error {
	if text == "" {
		return nil
	}
	platform, err := v1.ParsePlatform(text)
	if err != nil || platform.Architecture == "" {
		return fmt.Errorf("reading the platform %q: it is not like linux/amd64", text)
	}
	p.images.Platform = platform
	return nil
}

func (p *program) imageFlags(f *pflag.FlagSet) {
	p.kind = label.Auto
	f.Var((*kindFlag)(&p.kind), "kind", "which probes: `native`, Kubernetes' own; bridge, those that the image's "+
		"bridge answers; exec, the image's command; auto, the cheapest that is sure to pass")
	f.BoolVar(&p.images.Daemon, "daemon", false, "read images from Docker and not from registries")
	f.StringVar(&p.platform, "platform", "", "the `OS/ARCHITECTURE` of the images (default this machine's, or else "+
		"the first)")
	f.StringToStringVar(&p.images.Places, "image", nil, "where an image is to be read, `NAME=PLACE`: another name, a "+
		"tarball, or the folder of an OCI layout")
	f.DurationVar(&p.images.Timeout, "timeout", defaultTimeout, "how long an image may take to read")
}

func (p *program) fileFlags(f *pflag.FlagSet) {
	f.StringArrayVarP(&p.paths, "filename", "f", nil, "a `FILE`, a folder of files in YAML or JSON, or - for standard "+
		"input")
	f.BoolVar(&p.skipsUnreadable, "skip-unreadable", false, "leave containers as they are whose images cannot be read")
}

func (p *program) clusterFlags(f *pflag.FlagSet) {
	f.StringVar(&p.cluster.kubeconfig, "kubeconfig", "", "the `FILE` with the settings of kubectl")
	f.StringVar(&p.cluster.context, "context", "", "the `CONTEXT` in these settings")
	f.StringVarP(&p.cluster.namespace, "namespace", "n", "", "the `NAMESPACE` of the pod")
	f.DurationVar(&p.cluster.timeout, "pod-timeout", defaultTimeout, "how long the pod may take to answer")
}

func (p *program) outputFlag(f *pflag.FlagSet) {
	f.StringVarP(&p.output, "output", "o", "yaml", "how to print: `yaml` or json")
}

// kindFlag is the value of the flag -kind.
type kindFlag label.Kind

func (k *kindFlag) String() string { return string(*k) }
func (k *kindFlag) Type() string   { return "kind" }

func (k *kindFlag) Set(text string) error {
	if !slices.Contains(label.All(), label.Kind(text)) {
		return fmt.Errorf("there is no such kind of probes (take one of %v)", label.All())
	}
	*k = kindFlag(text)
	return nil
}

// labels returns a function for the label of a container: the label of the image or, for a pod, the findings of the
// probe there.
func (p *program) labels(ctx context.Context) (func(*manifest.Container) (*label.Label, error), error) {
	if p.cluster.pod == "" {
		return func(c *manifest.Container) (*label.Label, error) { return p.labelOf(ctx, c.Image) }, nil
	}
	at, err := p.cluster.connect()
	if err != nil {
		return nil, err
	}
	names, err := at.Containers(ctx)
	return func(c *manifest.Container) (*label.Label, error) {
		if !slices.Contains(names, c.Name) {
			return nil, nil
		}
		report, err := at.Discover(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		kinds, err := report.Probes()
		return &label.Label{Probes: kinds}, err
	}, err
}

// labelOf returns the label of an image, nil for none.
func (p *program) labelOf(ctx context.Context, name string) (*label.Label, error) {
	if name == "" {
		return nil, nil // the manifest leaves it to another program to name the image
	}
	labels, err := p.images.Labels(ctx, name)
	if err != nil || labels[label.Key] == "" {
		return nil, err
	}
	l, err := label.Parse(labels[label.Key])
	if err != nil {
		return nil, fmt.Errorf("reading the image %q: %w", name, err)
	}
	return l, nil
}
