package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/manifest"
)

// check prints the containers whose probes differ from the probes of their images.
func (p *program) check(ctx context.Context, args []string) error {
	files, err := p.files("check", args)
	if err != nil {
		return err
	}
	count := 0
	for _, f := range files {
		for _, c := range f.manifest.Containers() {
			l, err := p.labelOf(ctx, c.Image)
			switch {
			case err != nil && p.skipsUnreadable:
				p.sayf("%s is not checked: %v", c, err)
				continue
			case err != nil:
				return fmt.Errorf("checking %q: %s: %w (%s)", f.name, c, err, skipping)
			case l == nil || l.HasNoHealth():
				continue
			}
			for _, problem := range p.problems(c, l) {
				fmt.Fprintln(p.out, printable(fmt.Sprintf("%s: %s: %s", f.name, c, problem)))
				count++
			}
		}
	}
	if count > 0 {
		return fmt.Errorf("%w in %d places (run kubectl grpc-probes patch, with --replace for probes that are there)",
			errDrift, count)
	}
	return nil
}

// problems returns the differences between the probes of a container and of its image.
func (p *program) problems(c *manifest.Container, l *label.Label) []string {
	wanted, kind, err := l.Choose(p.kind, c.HasCommand)
	if err != nil {
		return []string{err.Error()}
	}
	offered := []*label.Probes{wanted}
	if p.kind == label.Auto {
		offered = []*label.Probes{wanted, l.Probes.Exec, l.Probes.GRPC, l.Probes.Bridge}
	}
	var problems []string
	for _, key := range []string{manifest.Readiness, manifest.Liveness} {
		is, want := c.Probe(key), wanted.Of(key)
		switch {
		case is == nil && want != nil:
			problems = append(problems, fmt.Sprintf("there is no %s (the image has one of the kind %s)", key, kind))
		case is != nil && want != nil:
			if problem := compare(is, key, offered, l); problem != "" {
				problems = append(problems, key+" "+problem)
			}
		}
	}
	return problems
}

// compare returns how a probe differs from all offers of an image; "" for an offered probe.
func compare(is *label.Probe, key string, offered []*label.Probes, l *label.Label) string {
	problem := "is of another kind than the image's"
	for _, probes := range offered {
		if probes == nil || probes.Of(key) == nil {
			continue
		}
		switch want := probes.Of(key); {
		case is.Asks(want):
			return ""
		case is.Exec != nil && want.Exec != nil:
			if problem = compareCommands(is.Exec.Command, want.Exec.Command, l.Port); problem == "" {
				return ""
			}
		case is.GRPC != nil && want.GRPC != nil && is.GRPC.Port != want.GRPC.Port:
			problem = fmt.Sprintf("asks port %d, and the image's server answers at %d", is.GRPC.Port, want.GRPC.Port)
		case is.GRPC != nil && want.GRPC != nil:
			problem = fmt.Sprintf("asks for the service %q, and the image's probe for %q", is.GRPC.Service,
				want.GRPC.Service)
		}
	}
	return problem
}

// compareCommands returns how a command differs from the image's. A user may add flags to the probe, but a port other
// than in the app's source is a difference.
func compareCommands(is, want []string, port int) string {
	if len(is) == 0 || is[0] != want[0] {
		return fmt.Sprintf("executes %q, and the image has %q", strings.Join(is, " "), want[0])
	}
	for i, word := range is[1:] {
		name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if name != "addr" || !strings.HasPrefix(word, "-") {
			continue
		}
		if !hasValue && i+2 < len(is) {
			value = is[i+2]
		}
		asked, err := strconv.Atoi(value[strings.LastIndexByte(value, ':')+1:])
		if err == nil && port != 0 && asked != port {
			return fmt.Sprintf("asks port %d, and the image's server answers at %d", asked, port)
		}
	}
	return ""
}
