package options

import (
	"testing"
	"time"
)

// A second connection takes its time from that of the calls.
func TestReconnect(t *testing.T) {
	t.Parallel()
	b := Budget{ConnectTimeout: time.Minute, RPCTimeout: time.Hour}
	now := time.Now()
	for calls, want := range map[time.Time]time.Time{
		now.Add(time.Second): now.Add(time.Second),
		now.Add(time.Hour):   now.Add(time.Minute),
		{}:                   now.Add(time.Minute),
	} {
		if got := b.Reconnect(calls); got.Before(want) || got.After(want.Add(10*time.Second)) {
			t.Errorf("Reconnect(%v) = %v, want %v", calls, got, want)
		}
	}
}

// Without -wait there is one attempt. Steps that are made again, such as a call after another, share its time.
func TestStepsMadeAgainGetNoMoreTime(t *testing.T) {
	t.Parallel()
	once := Budget{ConnectTimeout: time.Hour, RPCTimeout: time.Hour}
	waiting := Budget{ConnectTimeout: time.Hour, RPCTimeout: time.Hour, Wait: 10 * time.Hour}
	for _, b := range []*Budget{&once, &waiting} {
		b.Start()
		b.Connect()
		b.Call()
	}
	if got := once.Call(); got.After(time.Now()) {
		t.Errorf("the second call may end at %v, which is not over", got)
	}
	if got := waiting.Call(); got.Before(time.Now()) {
		t.Errorf("with -wait the second call has to end at %v", got)
	}
}

// A call that the verdict does not need ends with the call before, and soon.
func TestCallThatIsNotNeededLengthensNoProbe(t *testing.T) {
	t.Parallel()
	for _, b := range []Budget{
		{ConnectTimeout: time.Hour, RPCTimeout: time.Nanosecond},
		{ConnectTimeout: time.Hour, RPCTimeout: time.Hour},
		{ConnectTimeout: time.Hour, RPCTimeout: time.Hour, Timeout: time.Minute},
	} {
		b.Start()
		b.Connect()
		first := b.Call()
		b.ShareCall()
		if got := b.Call(); got.After(first) || got.After(time.Now().Add(b.RPCTimeout/10)) {
			t.Errorf("of a call until %v there is a second one until %v", first, got)
		}
	}
}

// A search asks more servers than anybody knows before, each with the options of the probe. However long it has taken,
// no step has a deadline after the longest time.
func TestSearchHasTheLongestTimeAtMost(t *testing.T) {
	t.Parallel()
	for _, limits := range []Budget{
		{},
		{FetchTimeout: time.Hour},
		{Timeout: time.Hour},
		{Timeout: 9 * time.Hour},
		{Wait: time.Hour},
		{Wait: 2 * time.Hour, Timeout: time.Hour},
	} {
		for hours := range 8 {
			b := limits
			b.ConnectTimeout, b.RPCTimeout, b.SearchTimeout = time.Hour, 2*time.Hour, time.Hour
			b.Start()
			gone := time.Duration(hours) * time.Hour
			b.began = b.began.Add(-gone)
			if b.limited() {
				b.end = b.end.Add(-gone)
			}
			last := b.began.Add(b.Longest())
			server := b
			for name, deadline := range map[string]time.Time{
				"Read": b.Read(), "Search": b.Search(), "Fetch": server.Fetch(), "Connect": server.Connect(),
				"Call": server.Call(), "another Call": server.Call(),
			} {
				if late := deadline.Sub(last); late > time.Minute && late > time.Since(last) {
					t.Errorf("after %v of %+v, %s ends %v after the longest time", gone, limits, name, late)
				}
			}
		}
	}
}
