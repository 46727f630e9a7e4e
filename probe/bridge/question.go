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

// target is the server that the bridge asks, and how.
type target struct {
	*bridgeflags.Flags
	// memory is where the server was found, if no flag says it.
	memory *check.Memory
}

func newTarget(f *bridgeflags.Flags) target { return target{f, new(check.Memory)} }

// kind is a kind of question.
type kind int

const (
	// asFlagsSay asks what the flags ask for.
	asFlagsSay kind = iota
	// ready asks the same with -mode=ready.
	ready
	// live asks the same with -mode=live.
	live
	// oneService asks for the status of one service.
	oneService
)

// question is what a bridge can be asked. Questions that are equal have the same answer at the same time.
type question struct {
	kind kind
	// service is the name of the service for oneService.
	service string
}

// ownService returns what a caller asks for without the name of the bridge, as in ready@NAME, and an error text if the
// name is not that of this bridge: in a pod with hostNetwork, the kubelet's probe reaches whatever bridge of the node
// has the port.
func (t target) ownService(asked string) (service, wrong string) {
	service, owner := asked, ""
	if i := strings.LastIndexByte(asked, '@'); i >= 0 {
		service, owner = asked[:i], asked[i+1:]
	}
	return service, t.notOwner(owner)
}

// ownName returns the name by which this bridge is asked for a service.
func (t target) ownName(service string) string {
	if t.Name == "" {
		return service
	}
	return service + "@" + t.Name
}

// notOwner returns an error text if a name is not that of this bridge.
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

// question returns what the name of a service means, as the bridge's clients write it. The empty name is what the flags
// ask for.
func (t target) question(name string) question {
	mode := t.Options.Mode
	switch {
	case name == "" && mode == options.ModeLive, name == "live":
		return question{kind: live}
	case name == "" && mode == options.ModeConnect:
		return question{kind: asFlagsSay}
	case name == "", name == "ready":
		return question{kind: ready}
	}
	return question{kind: oneService, service: name}
}

// String returns how a log names the question.
func (q question) String() string {
	switch q.kind {
	case ready:
		return "ready"
	case live:
		return "live"
	case oneService:
		return outcome.Subject(q.service)
	}
	return "health"
}

// longest is the longest time that one question takes.
func (t target) longest() time.Duration { return t.Options.Budget.Longest() }

// services returns the names of the services that the flags name. The empty name is the whole server.
func (t target) services() []string {
	if t.Options.All {
		return nil
	}
	return slices.Clone(t.Options.Services)
}

// ask asks the server now, within the time that the flags allow. Many goroutines may ask at once.
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
