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

type kind int

const (
	// asFlagsSay asks as the probe with the same flags does.
	asFlagsSay kind = iota
	// ready asks the same with -mode=ready.
	ready
	// live asks the same with -mode=live.
	live
	// oneService asks for the status of one service.
	oneService
)

// question is what a caller asks. Equal questions have equal answers at the same time.
type question struct {
	kind kind
	// service is set for oneService.
	service string
}

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

// question returns what a caller asks by the name of a service. The empty name asks what the flags say.
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

// String returns the question's name in the log.
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
