package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/manifest"
	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/pod"
)

// printed is the output for an image or a container.
type printed struct {
	Image     string     `json:"image,omitempty"`
	Container string     `json:"container,omitempty"`
	Address   string     `json:"address,omitempty"`
	Kind      label.Kind `json:"kind,omitempty"`
	*label.Probes
}

// print prints the probes of images.
func (p *program) print(ctx context.Context, args []string) error {
	names, err := p.parse("print", args)
	switch {
	case err != nil:
		return err
	case len(names) == 0:
		return errors.New("reading the arguments: name an image (print -h lists the flags)")
	}
	var all []printed
	for _, name := range names {
		l, err := p.labelOf(ctx, name)
		if err != nil {
			return err
		}
		if l == nil {
			return fmt.Errorf("reading the image %q: it has no probe (the buildpack grpc-cnb/health-probe has to "+
				"build it)", name)
		}
		probes, kind, err := l.Choose(p.kind, false)
		if err != nil {
			return fmt.Errorf("reading the image %q: %w", name, err)
		}
		if l.HasNoHealth() {
			p.sayf("%s: %s", name, noHealth)
		}
		all = append(all, printed{Image: name, Kind: kind, Probes: probes})
	}
	return p.show(all)
}

// discover prints the probe's findings in the containers of a pod, and probes for them.
func (p *program) discover(ctx context.Context, args []string) error {
	names, err := p.parse("discover", args)
	switch {
	case err != nil:
		return err
	case len(names) != 1:
		return errors.New("reading the arguments: name one pod (discover -h lists the flags)")
	}
	p.cluster.pod = names[0]
	at, err := p.cluster.connect()
	if err != nil {
		return err
	}
	containers := []string{p.cluster.container}
	if p.cluster.container == "" {
		if containers, err = at.Containers(ctx); err != nil {
			return err
		}
	}
	var all []printed
	var failed error
	for _, container := range containers {
		report, err := at.Discover(ctx, container)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		all = append(all, p.found(container, report)...)
	}
	if len(all) > 0 {
		if err := p.show(all); err != nil {
			return err
		}
		if p.cluster.container == "" {
			return nil // a pod has containers of other makers too
		}
	}
	return failed
}

// found returns the probes in a report, and tells users of the other sockets.
func (p *program) found(container string, report *pod.Report) []printed {
	var all []printed
	for _, s := range report.Sockets {
		switch {
		case s.Readiness != nil:
			all = append(all, printed{Container: container, Address: s.Address, Probes: &label.Probes{
				Readiness: s.Readiness, Liveness: s.Liveness,
			}})
		case s.GRPC:
			p.sayf("%s: %s: a gRPC server without a health service: %s", container, s.Address, s.Error)
		default:
			p.sayf("%s: %s: no gRPC server", container, s.Address)
		}
	}
	if report.Note != "" {
		p.sayf("%s: %s", container, report.Note)
	}
	return all
}

// show prints probes: one object per line in JSON, one document each in YAML.
func (p *program) show(all []printed) error {
	var text bytes.Buffer
	for i, one := range all {
		line, err := json.Marshal(one)
		if err != nil {
			return fmt.Errorf("printing probes: %w", err)
		}
		if p.output == "json" {
			text.Write(append(line, '\n'))
			continue
		}
		var document yaml.Node
		if err := yaml.Unmarshal(line, &document); err != nil {
			return fmt.Errorf("printing probes: %w", err)
		}
		if i > 0 {
			text.WriteString("---\n")
		}
		encoder := yaml.NewEncoder(&text)
		encoder.SetIndent(2)
		if err := encoder.Encode(manifest.Block(document.Content[0])); err != nil {
			return fmt.Errorf("printing probes: %w", err)
		}
	}
	_, err := p.out.Write(text.Bytes())
	return err
}
