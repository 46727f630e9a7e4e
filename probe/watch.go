package probe

import (
	"errors"
)

// watch prints each change of a service's status. Where the call ends by its deadline, the last status is the outcome.
// Where it ends before, it has failed.
func (p *prober) watch(conn Conn) error {
	service := p.options.Services[0]
	err := conn.Watch(service, func(status Status) { p.receive(service, status) })
	if p.options.Budget.isEnd(err) && p.report.answers != nil {
		return judge(p.options, p.report.answers)
	}
	return explainWatch(p.options, service, err)
}

// receive handles a status. Some servers send the same status again, which is no change.
func (p *prober) receive(service string, status Status) {
	if last := p.report.answers; last != nil && last[0].Status == status {
		return
	}
	p.report.answers = []Answer{{Service: service, Status: status}}
	p.out.change(p.options.output, p.report.answers[0])
}

// isEnd reports whether the call ended because time was up. The server is told of the deadline, so it may be the first
// to end the call.
func (b *Budget) isEnd(err error) bool {
	failed, ok := errors.AsType[*RPCError](err)
	return b.overdue() || b.limited() && ok && failed.Code == CodeDeadlineExceeded
}
