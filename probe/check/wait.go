package check

import (
	"fmt"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// The first pause between attempts, and the limit for doubling the pause.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = time.Second
)

// wait tries until an attempt passes, time is up, or an attempt fails for a reason that time does not fix. The outcome
// is that of the last attempt. If the end has cut off the last attempt, the outcome is that of the attempt before,
// which knows the cause better.
func (p *Prober) wait() error {
	budget := &p.Options.Budget
	var last outcome.Failures
	var lastReport outcome.Report
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := p.attempt()
		failed := outcome.FailuresOf(err)
		if err == nil || isFinal(failed.Worst()) {
			return err
		}
		if last == nil || !budget.Overdue() || failed.Worst().Class != outcome.ClassTimeout {
			last, lastReport = failed, p.report
		}
		p.notef("attempt %d: %v", p.report.Attempts, err)
		if !budget.Pause(pause) {
			p.report = lastReport
			return p.givenUp(last)
		}
	}
}

// isFinal reports whether another attempt would fail alike: for wrong flags, or a missing Workload API.
func isFinal(f *outcome.Failure) bool {
	return f.Code == outcome.ExitUsage || f.Code == outcome.ExitSPIFFE
}

// givenUp adds the time and the number of attempts to the failures of the last attempt.
func (p *Prober) givenUp(failed outcome.Failures) error {
	_, limit := p.Options.Budget.Limit()
	for _, f := range failed {
		f.Err = fmt.Errorf("trying for %v (attempts: %d): %w", limit, p.report.Attempts, f.Err)
	}
	return failed
}
