package bridge

import (
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

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
