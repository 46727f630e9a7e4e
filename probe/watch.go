package probe

import (
	"context"
	"errors"
)

// watch prints each change of a service's status. With a deadline the last
// status is the outcome; a call that ends before has failed.
func (p *prober) watch(ctx context.Context, conn Conn) error {
	service := p.options.Services[0]
	err := conn.Watch(ctx, service, func(status Status) { p.receive(service, status) })
	if isEnd(ctx, err) && p.report.answers != nil {
		return judge(ctx, p.options, p.report.answers)
	}
	return explainWatch(ctx, p.options, service, err)
}

// receive takes a status, which some servers send again unchanged.
func (p *prober) receive(service string, status Status) {
	if last := p.report.answers; last != nil && last[0].Status == status {
		return
	}
	p.report.answers = []Answer{{Service: service, Status: status}}
	p.out.change(p.options.output, p.report.answers[0])
}

// isEnd reports whether the call ended because time was up: the server, which is
// told of the deadline, may be the first to say so.
func isEnd(ctx context.Context, err error) bool {
	failed, ok := errors.AsType[*RPCError](err)
	_, limited := ctx.Deadline()
	return overdue(ctx) || limited && ok && failed.Code == CodeDeadlineExceeded
}
