package bridge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// target is the server to ask, and how.
type target struct {
	*bridgeflags.Flags
	// memory has the address that a search has found.
	memory *check.Memory
}

func newTarget(f *bridgeflags.Flags) target { return target{f, new(check.Memory)} }

// ownService splits the name of the bridge off a service, as in ready@NAME, and returns an error text if the name is
// not this bridge's: in a pod with hostNetwork, the kubelet's probe reaches any pod's bridge that has the port of the
// node.
func (t target) ownService(asked string) (service, wrong string) {
	service, owner := asked, ""
	if i := strings.LastIndexByte(asked, '@'); i >= 0 {
		service, owner = asked[:i], asked[i+1:]
	}
	return service, t.notOwner(owner)
}

// ownName is the reverse of ownService.
func (t target) ownName(service string) string {
	if t.Name == "" {
		return service
	}
	return service + "@" + t.Name
}

// notOwner returns an error text if the name is not this bridge's.
func (t target) notOwner(name string) (wrong string) {
	if name == t.Name {
		return ""
	}
	if t.Name == "" {
		return fmt.Sprintf("the bridge on this port has no name (-%s): is it another pod's?", bridgeflags.Name)
	}
	return fmt.Sprintf("the bridge on this port is named %q, and answers for @%s only: is it another pod's?", t.Name,
		t.Name)
}

// longest is the longest time that a round takes.
func (t target) longest() time.Duration { return t.Options.Budget.Longest() }

// services returns the services that the flags name. The empty name is the whole server.
func (t target) services() []string {
	if t.Options.All {
		return nil
	}
	return slices.Clone(t.Options.Services)
}

// ask asks the server, within the time that the flags allow. It may be called concurrently.
func (t target) ask(transport check.Transport, q question) outcome.Outcome {
	o := t.Options
	switch q.kind {
	case ready:
		o.Mode = options.ModeReady
	case live:
		o.Mode = options.ModeLive
	case oneService:
		o.Mode, o.All, o.Services = options.ModeReady, false, []string{q.service}
	}
	p := check.Prober{Transport: transport, Options: &o, Memory: t.memory}
	return *p.Run()
}
