package probe

import (
	"fmt"
	"time"
)

// The first pause between attempts, and the longest one that doubling makes of it.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = time.Second
)

// wait tries until an attempt passes, time is up, or an attempt fails for a reason that time does not mend. The outcome
// is that of the last attempt. Where the end has cut off the last one, it is that of the attempt before, which knows
// better what is wrong.
func (p *prober) wait() error {
	budget := &p.options.Budget
	var last failures
	var lastReport report
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := p.attempt()
		failed := failuresOf(err)
		if err == nil || failed.worst().isFinal() {
			return err
		}
		if last == nil || !budget.overdue() || failed.worst().class != classTimeout {
			last, lastReport = failed, p.report
		}
		if p.options.Verbose {
			p.out.notes([]string{fmt.Sprintf("attempt %d: %v", p.report.attempts, err)})
		}
		if !budget.pause(pause) {
			p.report = lastReport
			return p.givenUp(last)
		}
	}
}

// isFinal reports whether another attempt would fail as this one did: wrong flags do, and a Workload API that is not
// there.
func (f *Failure) isFinal() bool { return f.Code == ExitUsage || f.Code == ExitSPIFFE }

// givenUp adds to the failures of the last attempt how long the probe has tried.
func (p *prober) givenUp(failed failures) error {
	_, limit := p.options.Budget.limit()
	for _, f := range failed {
		f.Err = fmt.Errorf("trying for %v (attempts: %d): %w", limit, p.report.attempts, f.Err)
	}
	return failed
}
