package options

import (
	"math"
	"time"
)

// Budget is all the time that a probe may take. Every deadline and every pause of a probe comes from here, so a probe
// never takes more than the longest time that is computed here: a step that is not part of the budget gets no time. The
// fields with the name of a flag hold its value.
type Budget struct {
	ConnectTimeout time.Duration // -connect-timeout
	RPCTimeout     time.Duration // -rpc-timeout
	Wait           time.Duration // -wait; zero is one attempt
	Timeout        time.Duration // -timeout; zero is none
	// FetchTimeout is how long fetching credentials may take; zero without -spiffe.
	FetchTimeout time.Duration
	// SearchTimeout is how long it may take beyond that to look for a server of which no user gives the address; zero
	// if one does.
	SearchTimeout time.Duration

	began     time.Time     // when Start was called
	end       time.Time     // when everything ends; zero, for never, without -wait and -timeout
	connectBy time.Time     // of the connection that files are read for; zero for none
	callBy    time.Time     // of the last calls
	shares    bool          // the next call has that deadline too
	spent     time.Duration // what steps have asked for, without -wait
}

// Longest returns the longest time that a probe takes. It does not hold for -watch without -timeout, which never ends
// by itself.
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

// attempt returns the longest time that one attempt takes.
func (b *Budget) attempt() time.Duration {
	return add(add(add(b.FetchTimeout, b.ConnectTimeout), b.RPCTimeout), b.SearchTimeout)
}

// add returns the sum of two durations, or the longest possible duration if the sum is longer.
func add(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Limit returns the flag that limits everything together, and its value, which is zero if neither -wait nor -timeout
// is set.
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

// Read returns the deadline for reading files from now on. They are read before connecting and in its time. With
// -spiffe, which fetches its credentials in between, there is no time to wait for files.
func (b *Budget) Read() time.Time {
	if b.FetchTimeout > 0 {
		return time.Now()
	}
	b.connectBy = b.step(b.ConnectTimeout)
	return b.connectBy
}

// Connect returns the deadline for connecting from now on, or since files are read for that.
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

// sharedPart is the part of RPCTimeout that a call takes at most that the verdict does not need.
const sharedPart = 10

// ShareCall makes the next Call return a deadline within the time of the one before, and no more than a tenth of
// RPCTimeout from now: no verdict waits for that call.
func (b *Budget) ShareCall() {
	if latest := time.Now().Add(b.RPCTimeout / sharedPart); latest.Before(b.callBy) {
		b.callBy = latest
	}
	b.shares = true
}

// Reconnect returns the deadline for a second connection, made from now on for calls that have a deadline of their own,
// zero for none. It takes its time from that of the calls.
func (b *Budget) Reconnect(calls time.Time) time.Time {
	deadline := time.Now().Add(b.ConnectTimeout)
	if !calls.IsZero() && calls.Before(deadline) {
		return calls
	}
	return deadline
}

// End returns the time at which everything ends. Without -wait and -timeout it is zero, which means never.
func (b *Budget) End() time.Time { return b.end }

// Search returns the deadline of finding out which servers there are. It leaves half of the time to ask them, if there
// is an end of everything.
func (b *Budget) Search() time.Time {
	if b.limited() {
		return b.step(min(b.SearchTimeout, time.Until(b.end)/2))
	}
	return b.step(b.SearchTimeout)
}

// step returns the deadline of a step that begins now and may take d. The deadline is never after the end of
// everything. Without -wait, all steps together get no more time than one attempt takes. In a search the clock counts,
// since nobody knows before how many servers are asked.
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

// NewTimer returns a timer for a deadline of a budget, zero being none, for a transport that waits for others.
func NewTimer(deadline time.Time) *time.Timer {
	if deadline.IsZero() {
		return time.NewTimer(math.MaxInt64)
	}
	return time.NewTimer(time.Until(deadline))
}

// moment is how long Pauses waits at once.
const moment = 2 * time.Millisecond

// Pauses returns a function that waits for a moment, or returns false if the deadline is past.
func Pauses(deadline time.Time) func() bool {
	return func() bool {
		left := time.Until(deadline)
		time.Sleep(min(moment, left))
		return left > 0
	}
}

// minPause is the shortest pause between attempts.
const minPause = 10 * time.Millisecond

// Pause waits for d, or for half of the time that is left if that is shorter, so that the last attempts come close
// to the end. It does not wait, and returns false, if too little time is left.
func (b *Budget) Pause(d time.Duration) bool {
	d = min(d, time.Until(b.end)/2)
	if d < minPause {
		return false
	}
	time.Sleep(d)
	return true
}

// limited reports whether there is an end of everything.
func (b *Budget) limited() bool { return !b.end.IsZero() }

// Overdue reports whether the end of everything is past, or so near that the kernel, whose clock ticks every 10 ms at
// the slowest, may have ended what was limited by it.
func (b *Budget) Overdue() bool { return b.limited() && time.Until(b.end) <= 10*time.Millisecond }
