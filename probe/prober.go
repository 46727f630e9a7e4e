package probe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// prober asks what the options ask for.
type prober struct {
	transport Transport
	options   *Options
	out       output
	report    report
}

// run probes within -timeout, again and again within -wait. A context without a
// deadline is the one that costs nothing.
func (p *prober) run() error {
	ctx := context.Background()
	if p.options.timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, p.options.timeout)
		defer cancel()
		ctx = limited
	}
	if p.options.wait > 0 {
		return p.wait(ctx)
	}
	return p.attempt(ctx)
}

// attempt connects once, asks and judges the answers.
func (p *prober) attempt(ctx context.Context) error {
	p.report.begin()
	if err := p.options.readHeaders(); err != nil {
		return err
	}
	start := time.Now()
	conn, err := p.transport.Dial(ctx, p.options)
	if err != nil {
		return explainDial(ctx, p.options, err)
	}
	// The process ends or tries again next: an error in closing can change nothing.
	defer func() { _ = conn.Close() }()
	p.report.connect = time.Since(start)
	err = p.ask(ctx, conn)
	if failed, ok := errors.AsType[*Failure](err); ok && failed.Code == ExitConnection {
		p.report.forget() // to the user it is one whether Dial or a call found out
		return err
	}
	p.report.rpc = time.Since(start) - p.report.connect
	if p.options.Verbose {
		p.out.notes([]string{fmt.Sprintf("took: connect=%v rpc=%v", p.report.connect, p.report.rpc)})
	}
	return err
}

func (p *prober) ask(ctx context.Context, conn Conn) error {
	o := p.options
	switch {
	case o.mode == modeConnect:
		if err := conn.Settle(ctx); err != nil {
			return explainDial(ctx, o, err)
		}
		return nil
	case o.watch:
		return p.watch(ctx, conn)
	case o.all:
		return p.list(ctx, conn)
	}
	p.report.answers = conn.Check(ctx, o.Services)
	return judge(ctx, o, p.report.answers)
}

// list asks for the status of every service there is.
func (p *prober) list(ctx context.Context, conn Conn) error {
	statuses, err := conn.List(ctx)
	live := p.options.mode == modeLive
	if err != nil {
		if live && isAnswer(err) {
			return nil
		}
		return explainList(ctx, p.options, err)
	}
	if len(statuses) == 0 && !live {
		return &Failure{Code: ExitNotServing, Err: errors.New("listing services: the server lists none"),
			Hint: "set a status in the server's health service"}
	}
	for _, service := range slices.Sorted(maps.Keys(statuses)) {
		p.report.answers = append(p.report.answers, Answer{Service: service, Status: statuses[service]})
	}
	return judge(ctx, p.options, p.report.answers)
}

// judge returns the failures among the answers, or nil. A connection that proved
// unusable is one failure, whatever was asked on it.
func judge(ctx context.Context, o *Options, answers []Answer) error {
	var failed failures
	for _, a := range answers {
		if _, unusable := errors.AsType[*DialError](a.Err); unusable {
			return explainDial(ctx, o, a.Err)
		}
		if o.mode == modeLive && (a.Err == nil || isAnswer(a.Err)) {
			continue
		}
		if a.Err != nil {
			failed = append(failed, explainCheck(ctx, o, a))
		} else if a.Status != StatusServing {
			failed = append(failed, &Failure{Code: ExitNotServing, Err: fmt.Errorf("checking %s: status is %v", subject(a.Service), a.Status)})
		}
	}
	if failed == nil {
		return nil
	}
	return failed
}

// isAnswer reports whether the server itself has ended the call. Whose clock
// ends a late call, the server's or the probe's, is chance: it is no answer.
func isAnswer(err error) bool {
	failed, ok := errors.AsType[*RPCError](err)
	return ok && failed.Answered && failed.Code != CodeDeadlineExceeded
}
