package probe

import (
	"context"
	"fmt"
	"time"
)

// The pauses between attempts: the first, and the longest that doubling makes of
// it. Towards the end they get shorter again, so that the last attempts come
// close to it, but not endlessly.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = time.Second
	minPause   = 10 * time.Millisecond
)

// wait tries until an attempt passes, time is up, or one fails for a reason that
// time does not mend. The outcome is that of the last attempt, or of the one before
// it where the end has cut off the last: what is wrong is better known by that.
func (p *prober) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.options.wait)
	defer cancel()
	end, _ := ctx.Deadline()
	var last failures
	var lastReport report
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := p.attempt(ctx)
		failed := failuresOf(err)
		if err == nil || failed.worst().isFinal() {
			return err
		}
		if last == nil || !overdue(ctx) || failed.worst().class != classTimeout {
			last, lastReport = failed, p.report
		}
		if p.options.Verbose {
			p.out.notes([]string{fmt.Sprintf("attempt %d: %v", p.report.attempts, err)})
		}
		rest := min(pause, time.Until(end)/2)
		if rest < minPause {
			p.report = lastReport
			return p.givenUp(last)
		}
		time.Sleep(rest)
	}
}

// isFinal reports whether another attempt would fail as this one did: wrong
// flags and a Workload API that is not there.
func (f *Failure) isFinal() bool { return f.Code == ExitUsage || f.Code == ExitSPIFFE }

// givenUp says of the failures of the last attempt how long they were put up with.
func (p *prober) givenUp(failed failures) error {
	_, limit := p.options.limit()
	for _, f := range failed {
		f.Err = fmt.Errorf("trying for %v (attempts: %d): %w", limit, p.report.attempts, f.Err)
	}
	return failed
}

// limit returns the flag that bounds everything, and its value.
func (o *Options) limit() (flag string, d time.Duration) {
	if o.wait > 0 && (o.timeout == 0 || o.wait < o.timeout) {
		return "-wait", o.wait
	}
	return "-timeout", o.timeout
}

// overdue reports whether the deadline of ctx is over, or so near that the kernel,
// whose clock ticks every 10 ms at worst, may have ended what was bound by it. It
// does not ask ctx, whose timer may be late for what a transport has seen.
func overdue(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= 10*time.Millisecond
}
