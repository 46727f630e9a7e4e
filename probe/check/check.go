// Package check is one health check, from the options to the outcome: connecting, asking, trying again on request,
// judging the answers and explaining failures.
//
// In go [options.Options]; the network is behind a [Transport], so programs that differ only in their transport give
// the same answers. Out comes an [outcome.Outcome]. Every deadline and every pause on the way is of the
// [options.Budget]. Below are the meaning of flags (options, address, metadata, tlsfiles), the findings and their words
// (outcome), and the reading of files (rawfile). Begin with [Prober.Run].
package check

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// Prober asks the questions of the options.
type Prober struct {
	Transport Transport
	Options   *options.Options
	// Note, if set, receives the durations of steps.
	Note func(line string)
	// Lists means to report listed services that were not asked for: see Prober.noteUnasked.
	Lists bool
	// Memory, if set, keeps the servers found by a search for the next search.
	Memory *Memory
	// Change receives each change of the status in a Watch.
	Change func(outcome.Answer)

	report  outcome.Report
	success string // the line for a probe that passes, if it is not that of the mode
	notes   []string
}

// Run probes once, or again and again until the end of the budget.
func (p *Prober) Run() *outcome.Outcome {
	p.Options.Budget.Start()
	var err error
	if p.Options.Budget.Wait > 0 {
		err = p.wait()
	} else {
		err = p.attempt()
	}
	ended := p.Options.Ended(err)
	ended.Report, ended.Notes, ended.Success = p.report, p.notes, cmp.Or(p.success, ended.Success)
	ended.Address = cmp.Or(p.report.Address, ended.Address)
	return ended
}

// attempt connects once, asks, and judges the answers.
func (p *Prober) attempt() error {
	err := p.prepare()
	switch {
	case err != nil:
		return err
	case p.Options.Search.Enabled || p.Options.Search.Found:
		return p.search()
	}
	return p.reach()
}

// prepare begins an attempt.
func (p *Prober) prepare() (err error) {
	p.report = outcome.Report{Attempts: p.report.Attempts + 1}
	o := p.Options
	o.Headers, err = metadata.Read(o.FixedHeaders, o.MountedHeaders, options.Pauses(o.Budget.Read()))
	return err
}

// reach connects to the address of the options, asks, and judges the answers.
func (p *Prober) reach() (err error) {
	o := p.Options
	start := time.Now()
	conn, err := p.Transport.Dial(o)
	if accepted, ok := errors.AsType[*AcceptedError](err); ok {
		p.success, p.notes = "live: the server accepts connections", append(p.notes, accepted.Error())
		return nil
	}
	if err != nil {
		return explainDial(o, err)
	}
	// An error in closing changes nothing: next the process ends, or tries again.
	defer func() { _ = conn.Close() }()
	p.report.Connect = time.Since(start)
	err = p.ask(conn)
	if failed, ok := errors.AsType[*outcome.Failure](err); ok && failed.Code == outcome.ExitConnection {
		// To the user, a failure in Dial and a failure in a call are the same.
		p.report = outcome.Report{Attempts: p.report.Attempts}
		return err
	}
	p.report.RPC = time.Since(start) - p.report.Connect
	p.notef("took: connect=%v rpc=%v", p.report.Connect, p.report.RPC)
	if err == nil && p.Lists {
		p.noteUnasked(conn)
	}
	return err
}

func (p *Prober) notef(format string, args ...any) {
	if p.Note != nil {
		p.Note(fmt.Sprintf(format, args...))
	}
}

func (p *Prober) ask(conn Conn) error {
	o := p.Options
	switch {
	case o.Mode == options.ModeConnect:
		if err := conn.Settle(); err != nil {
			return explainDial(o, err)
		}
		return nil
	case o.Watch:
		return p.watch(conn)
	case o.All:
		return p.list(conn)
	}
	p.report.Answers = conn.Check(o.Services)
	for _, a := range p.report.Answers {
		hide(o, a.Err)
	}
	return judge(o, p.report.Answers)
}

// hide removes the values of headers from the server's text in the error of a call.
func hide(o *options.Options, err error) {
	if failed, ok := errors.AsType[*outcome.RPCError](err); ok {
		failed.Message = metadata.Hide(failed.Message, o.Headers)
	}
}

// list asks for the status of every service of the server.
func (p *Prober) list(conn Conn) error {
	statuses, err := conn.List()
	hide(p.Options, err)
	live := p.Options.Mode == options.ModeLive
	if err != nil {
		if live && isAnswer(err) {
			return nil
		}
		return explainList(p.Options, err)
	}
	if len(statuses) == 0 && !live {
		return &outcome.Failure{
			Code: outcome.ExitNotServing, Err: errors.New("listing services: the server lists none"),
			Hint: "set a status in the server's health service",
		}
	}
	for _, service := range slices.Sorted(maps.Keys(statuses)) {
		p.report.Answers = append(p.report.Answers, outcome.Answer{
			Service: metadata.Hide(service, p.Options.Headers), Status: statuses[service],
		})
	}
	return judge(p.Options, p.report.Answers)
}

// judge returns the failures among the answers, or nil. An unusable connection is one failure for all services.
func judge(o *options.Options, answers []outcome.Answer) error {
	var failed outcome.Failures
	for _, a := range answers {
		if _, unusable := errors.AsType[*DialError](a.Err); unusable {
			return explainDial(o, a.Err)
		}
		if o.Mode == options.ModeLive && (a.Err == nil || isAnswer(a.Err)) {
			continue
		}
		if a.Err != nil {
			failed = append(failed, explainCheck(o, a))
		} else if a.Status != outcome.StatusServing {
			failed = append(failed,
				&outcome.Failure{
					Code: outcome.ExitNotServing,
					Err:  fmt.Errorf("checking %s: status is %v", outcome.Subject(a.Service), a.Status),
				})
		}
	}
	if failed == nil {
		return nil
	}
	return failed
}

// isAnswer reports whether the server itself has ended the call with a status. A call past its deadline is no answer,
// because chance decides whether the server or the probe notices first.
func isAnswer(err error) bool {
	failed, ok := errors.AsType[*outcome.RPCError](err)
	return ok && failed.Answered && failed.Code != outcome.CodeDeadlineExceeded
}
