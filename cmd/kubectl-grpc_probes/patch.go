package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/manifest"
)

// skipping is advice for images that cannot be read.
const skipping = "--skip-unreadable leaves such containers as they are"

// noHealth is the message for an app whose probes cannot pass.
const noHealth = "every probe fails, because the app has no health service (the build's log says what to add)"

func (p *program) patch(ctx context.Context, args []string) error {
	files, err := p.files("patch", args)
	if err != nil {
		return err
	}
	labels, err := p.labels(ctx)
	if err != nil {
		return err
	}
	fitting := 0
	for _, f := range files {
		fits, err := p.patchFile(f, labels)
		if err != nil {
			return fmt.Errorf("patching %q: %w", f.name, err)
		}
		fitting += fits
	}
	if p.dryRun {
		for _, f := range files {
			if _, err := p.out.Write(diff.Diff(f.name, f.old, f.name, f.changed)); err != nil {
				return fmt.Errorf("writing the changes: %w", err)
			}
		}
	} else if err := p.write(files); err != nil {
		return err
	}
	if fitting == 0 {
		return fmt.Errorf("%w: no container has an image with probes (the buildpack grpc-cnb/health-probe has to "+
			"build the image)", errDrift)
	}
	return nil
}

// function patches the resources on standard input, as a function of kustomize and kpt. The data of the function's
// ConfigMap are the flags.
func (p *program) function(ctx context.Context) error {
	text, err := readAll(p.in)
	if err != nil {
		return err
	}
	list, err := manifest.Parse(text)
	if err != nil {
		return err
	}
	if !list.IsResourceList() {
		return errors.New("reading standard input: it is no ResourceList (run kubectl grpc-probes -h)")
	}
	var args []string
	for name, value := range list.FunctionConfig() {
		args = append(args, "--"+name+"="+value)
	}
	if _, err := p.parse("patch", args); err != nil {
		return err
	}
	labels, err := p.labels(ctx)
	if err != nil {
		return err
	}
	f := &file{name: "-", old: text, manifest: list}
	if _, err := p.patchFile(f, labels); err != nil {
		return err
	}
	_, err = p.out.Write(f.changed)
	return err
}

// patchFile changes a file in memory, and returns how many containers have an image with probes.
func (p *program) patchFile(f *file, labels func(*manifest.Container) (*label.Label, error)) (fitting int, err error) {
	for _, c := range f.manifest.Containers() {
		l, err := labels(c)
		switch {
		case err != nil && p.skipsUnreadable:
			p.sayf("%s is left as it is: %v", c, err)
			continue
		case err != nil:
			return 0, fmt.Errorf("%s: %w (%s)", c, err, skipping)
		case l == nil:
			continue
		case l.HasNoHealth():
			p.sayf("%s is left as it is: %s", c, noHealth)
			continue
		}
		fitting++
		if err := p.patchContainer(c, l); err != nil {
			return 0, fmt.Errorf("%s: %w", c, err)
		}
	}
	f.changed, err = f.manifest.Bytes()
	return fitting, err
}

// patchContainer writes the probes of the image that the container lacks; with --replace, also over different probes.
func (p *program) patchContainer(c *manifest.Container, l *label.Label) error {
	probes, kind, err := l.Choose(p.kind, c.HasCommand)
	if err != nil {
		return err
	}
	isChanged := false
	for _, key := range []string{manifest.Readiness, manifest.Liveness} {
		want, is := probes.Of(key), c.Probe(key)
		if want == nil || is != nil && (!p.replaces || is.Asks(want)) {
			continue
		}
		if err := c.SetProbe(key, want); err != nil {
			return err
		}
		p.sayf("%s gets a %s (%s)", c, key, kind)
		isChanged = true
	}
	if !isChanged {
		return nil
	}
	for _, remark := range probes.Remarks {
		p.sayf("%s: %s", c, remark)
	}
	if err := c.AddEnv(probes.Env); err != nil || probes.InitContainer == nil {
		return err
	}
	return c.AddSidecar(*probes.InitContainer)
}

func (p *program) sayf(format string, args ...any) {
	fmt.Fprintln(p.messages, printable(fmt.Sprintf(format, args...)))
}

func (p *program) files(command string, args []string) ([]*file, error) {
	rest, err := p.parse(command, args)
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 0 || len(p.paths) == 0:
		return nil, fmt.Errorf("reading the arguments: name the manifests with -f (%s -h lists the flags)", command)
	}
	return p.read()
}

// readAll reads standard input, up to the largest size of a manifest.
func readAll(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, manifest.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return text, nil
}
