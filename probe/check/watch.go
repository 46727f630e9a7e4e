package check

import (
	"errors"

	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// watch reports each change of a service's status. If the call ends by its deadline, the last status is the outcome. An
// earlier end is a failure.
func (p *Prober) watch(conn Conn) error {
	service := p.Options.Services[0]
	err := conn.Watch(service, func(status outcome.Status) { p.receive(service, status) })
	hide(p.Options, err)
	if isEnd(&p.Options.Budget, err) && p.report.Answers != nil {
		return judge(p.Options, p.report.Answers)
	}
	return explainWatch(p.Options, service, err)
}

// receive handles a status. Some servers repeat a status, which is no change.
func (p *Prober) receive(service string, status outcome.Status) {
	if last := p.report.Answers; last != nil && last[0].Status == status {
		return
	}
	p.report.Answers = []outcome.Answer{{Service: service, Status: status}}
	p.Change(p.report.Answers[0])
}

// isEnd reports whether the call ended because time was up. The server knows the deadline too, and may be the first to
// end the call.
func isEnd(b *options.Budget, err error) bool {
	failed, ok := errors.AsType[*outcome.RPCError](err)
	return b.Overdue() || !b.End().IsZero() && ok && failed.Code == outcome.CodeDeadlineExceeded
}
