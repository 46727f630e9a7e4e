package check

import (
	"time"
)

// Spend runs one probe, and returns the longest time that was promised, and the time that all steps together have asked
// the budget for.
func Spend(t Transport, o *Options) (longest, given time.Duration) {
	p := Prober{Transport: t, Options: o}
	_ = p.Run() // what it finds is not what is tested
	budget := &o.Budget
	given = budget.spent
	if _, limit := budget.limit(); budget.Wait > 0 || budget.Timeout > 0 && limit < given {
		given = limit
	}
	return budget.Longest(), given
}
