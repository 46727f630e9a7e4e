package options

import "time"

// Spent returns the time that all steps together have asked the budget for.
func (b *Budget) Spent() time.Duration {
	if _, limit := b.Limit(); b.Wait > 0 || b.Timeout > 0 && limit < b.spent {
		return limit
	}
	return b.spent
}
