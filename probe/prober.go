package probe

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// prober runs one probe: it asks what the options say, and keeps what it has found out.
type prober struct {
	transport Transport
	options   *Options
	out       output
	report    report
}

// run probes once, or again and again with -wait.
func (p *prober) run() error {
	p.options.Budget.start()
	if p.options.Budget.wait > 0 {
		return p.wait()
	}
	return p.attempt()
}

// attempt connects once, asks, and judges the answers.
func (p *prober) attempt() error {
	p.report.begin()
	if err := p.options.readHeaders(); err != nil {
		return err
	}
	start := time.Now()
	conn, err := p.transport.Dial(p.options)
	if err != nil {
		return explainDial(p.options, err)
	}
	// An error in closing changes nothing: next the process ends, or it tries again.
	defer func() { _ = conn.Close() }()
	p.report.connect = time.Since(start)
	err = p.ask(conn)
	if failed, ok := errors.AsType[*Failure](err); ok && failed.Code == ExitConnection {
		p.report.forget() // it does not matter to the user whether Dial or a call has found out
		return err
	}
	p.report.rpc = time.Since(start) - p.report.connect
	if p.options.Verbose {
		p.out.notes([]string{fmt.Sprintf("took: connect=%v rpc=%v", p.report.connect, p.report.rpc)})
	}
	return err
}

func (p *prober) ask(conn Conn) error {
	o := p.options
	switch {
	case o.mode == modeConnect:
		if err := conn.Settle(); err != nil {
			return explainDial(o, err)
		}
		return nil
	case o.watch:
		return p.watch(conn)
	case o.all:
		return p.list(conn)
	}
	p.report.answers = conn.Check(o.Services)
	return judge(o, p.report.answers)
}

// list asks for the status of every service that the server has.
func (p *prober) list(conn Conn) error {
	statuses, err := conn.List()
	live := p.options.mode == modeLive
	if err != nil {
		if live && isAnswer(err) {
			return nil
		}
		return explainList(p.options, err)
	}
	if len(statuses) == 0 && !live {
		return &Failure{
			Code: ExitNotServing, Err: errors.New("listing services: the server lists none"),
			Hint: "set a status in the server's health service",
		}
	}
	for _, service := range slices.Sorted(maps.Keys(statuses)) {
		p.report.answers = append(p.report.answers, Answer{Service: service, Status: statuses[service]})
	}
	return judge(p.options, p.report.answers)
}

// judge returns the failures among the answers, or nil. An unusable connection is one failure, however many services
// were asked for on it.
func judge(o *Options, answers []Answer) error {
	var failed failures
	for _, a := range answers {
		if _, unusable := errors.AsType[*DialError](a.Err); unusable {
			return explainDial(o, a.Err)
		}
		if o.mode == modeLive && (a.Err == nil || isAnswer(a.Err)) {
			continue
		}
		if a.Err != nil {
			failed = append(failed, explainCheck(o, a))
		} else if a.Status != StatusServing {
			failed = append(failed,
				&Failure{
					Code: ExitNotServing,
					Err:  fmt.Errorf("checking %s: status is %v", subject(a.Service), a.Status),
				})
		}
	}
	if failed == nil {
		return nil
	}
	return failed
}

// isAnswer reports whether the server itself has ended the call with a status. A call that is over its deadline is no
// answer, because it is chance whether the server or the probe notices first.
func isAnswer(err error) bool {
	failed, ok := errors.AsType[*RPCError](err)
	return ok && failed.Answered && failed.Code != CodeDeadlineExceeded
}
