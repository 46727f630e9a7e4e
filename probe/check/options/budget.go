package options

import (
	"math"
	"time"
)

// Budget is all the time of a probe. Every deadline and every pause of a probe comes from the Budget, so no probe
// exceeds Longest: a step outside the budget gets no time. The fields with the name of a flag hold its value.
type Budget struct {
	ConnectTimeout time.Duration // -connect-timeout
	RPCTimeout     time.Duration // -rpc-timeout
	Wait           time.Duration // -wait; zero is one attempt
	Timeout        time.Duration // -timeout; zero is none
	// FetchTimeout is the limit for fetching credentials; zero without -spiffe.
	FetchTimeout time.Duration
	// SearchTimeout is the additional limit for finding a server without an address from the user; zero with an address
	// from the user.
	SearchTimeout time.Duration

	began     time.Time     // when Start was called
	end       time.Time     // when everything ends; zero, for never, without -wait and -timeout
	connectBy time.Time     // of the connection that files are read for; zero for none
	callBy    time.Time     // of the last calls
	shares    bool          // the next call has that deadline too
	spent     time.Duration // what steps have asked for, without -wait
}

// Longest returns the longest time of a probe. Longest does not hold for -watch without -timeout, which never ends by
// itself.
func (b *Budget) Longest() time.Duration {
	longest := b.attempt()
	if b.Wait > 0 {
		longest = add(longest, b.Wait)
	}
	if b.Timeout > 0 {
		longest = min(longest, b.Timeout)
	}
	return longest
}

func (b *Budget) attempt() time.Duration {
	return add(add(add(b.FetchTimeout, b.ConnectTimeout), b.RPCTimeout), b.SearchTimeout)
}

// add returns the sum of two durations, or the longest possible duration on overflow.
func add(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Limit returns the flag that limits everything together, and its value. The value is zero without -wait and -timeout.
func (b *Budget) Limit() (flag string, d time.Duration) {
	if b.Wait > 0 && (b.Timeout == 0 || b.Wait < b.Timeout) {
		return "-wait", b.Wait
	}
	return "-timeout", b.Timeout
}

// Start begins the time of -wait and -timeout.
func (b *Budget) Start() {
	b.began = time.Now()
	if _, d := b.Limit(); d > 0 {
		b.end = b.began.Add(d)
	}
}

// Fetch returns the deadline for fetching credentials from now on.
func (b *Budget) Fetch() time.Time { return b.step(b.FetchTimeout) }

// Read returns the deadline for reading files from now on. Files are read before connecting, in the time for
// connecting. With -spiffe, which fetches credentials in between, there is no time to wait for files.
func (b *Budget) Read() time.Time {
	if b.FetchTimeout > 0 {
		return time.Now()
	}
	b.connectBy = b.step(b.ConnectTimeout)
	return b.connectBy
}

// Connect returns the deadline for connecting, counted from now or from the reading of files before.
func (b *Budget) Connect() time.Time {
	if by := b.connectBy; !by.IsZero() {
		b.connectBy = time.Time{}
		return by
	}
	return b.step(b.ConnectTimeout)
}

// Call returns the deadline for calls that all begin now.
func (b *Budget) Call() time.Time {
	if b.shares {
		b.shares = false
		return b.callBy
	}
	b.callBy = b.step(b.RPCTimeout)
	return b.callBy
}

// sharedPart is the greatest part of RPCTimeout for a call that the verdict does not need.
const sharedPart = 10

// ShareCall makes the next Call return a deadline within the time of the call before, and no more than a tenth of
// RPCTimeout from now: no verdict waits for the next call.
func (b *Budget) ShareCall() {
	if latest := time.Now().Add(b.RPCTimeout / sharedPart); latest.Before(b.callBy) {
		b.callBy = latest
	}
	b.shares = true
}

// Reconnect returns the deadline for a second connection from now on, for calls with a deadline of their own, zero for
// none. The connection takes its time from the time of the calls.
func (b *Budget) Reconnect(calls time.Time) time.Time {
	deadline := time.Now().Add(b.ConnectTimeout)
	if !calls.IsZero() && calls.Before(deadline) {
		return calls
	}
	return deadline
}

// End returns the time at which everything ends; zero, for never, without -wait and -timeout.
func (b *Budget) End() time.Time { return b.end }

// Search returns the deadline for finding out which servers there are. If everything has an end, half of the time is
// left to ask the servers.
func (b *Budget) Search() time.Time {
	if b.limited() {
		return b.step(min(b.SearchTimeout, time.Until(b.end)/2))
	}
	return b.step(b.SearchTimeout)
}

// step returns the deadline of a step that begins now and may take d. The deadline is never after the end of
// everything. Without -wait, all steps together get no more time than one attempt takes. In a search the clock counts,
// since nobody knows the number of servers before.
func (b *Budget) step(d time.Duration) time.Time {
	end := b.end
	if longest := b.attempt(); b.Wait == 0 && longest < math.MaxInt64 {
		left := max(0, longest-b.spent)
		b.spent = add(b.spent, d)
		if b.SearchTimeout == 0 {
			d = min(d, left)
		} else if last := b.began.Add(longest); end.IsZero() || last.Before(end) {
			end = last
		}
	}
	deadline := time.Now().Add(d)
	if !end.IsZero() && end.Before(deadline) {
		return end
	}
	return deadline
}

// NewTimer returns a timer for a deadline of a budget, zero for none, for a transport that waits for others.
func NewTimer(deadline time.Time) *time.Timer {
	if deadline.IsZero() {
		return time.NewTimer(math.MaxInt64)
	}
	return time.NewTimer(time.Until(deadline))
}

// moment is one wait of Pauses.
const moment = 2 * time.Millisecond

// Pauses returns a function that waits for a moment, or returns false after the deadline.
func Pauses(deadline time.Time) func() bool {
	return func() bool {
		left := time.Until(deadline)
		time.Sleep(min(moment, left))
		return left > 0
	}
}

// minPause is the shortest pause between attempts.
const minPause = 10 * time.Millisecond

// Pause waits for d, or for half of the time left if shorter, so that the last attempts come close to the end. With too
// little time left, Pause returns false at once.
func (b *Budget) Pause(d time.Duration) bool {
	d = min(d, time.Until(b.end)/2)
	if d < minPause {
		return false
	}
	time.Sleep(d)
	return true
}

// limited reports whether everything has an end.
func (b *Budget) limited() bool { return !b.end.IsZero() }

// Overdue reports whether the end of everything is past, or near enough for the kernel to have ended a step limited by
// that end: the kernel's clock ticks every 10 ms at the slowest.
func (b *Budget) Overdue() bool { return b.limited() && time.Until(b.end) <= 10*time.Millisecond }
